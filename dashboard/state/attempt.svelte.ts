// Owns one request at a time that a person made of the server: that it is under way, and why it failed.
import { sentenceOf } from '../client.ts'

export class Attempt {
  isUnderWay = $state(false)
  problem = $state('')

  /**
   * Does it, unless the one before is still under way. What it throws becomes the problem.
   * @param isShown whether a field shows this refusal already
   */
  async make(act: () => Promise<unknown>, isShown?: (refusal: string) => boolean) {
    if (this.isUnderWay) return
    this.isUnderWay = true
    this.problem = ''
    try {
      await act()
    } catch (error) {
      const sentence = sentenceOf(error)
      if (!isShown?.(sentence)) this.problem = sentence
    } finally {
      this.isUnderWay = false
    }
  }
}
