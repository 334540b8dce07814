// Subscriptions over the socket: every subscriber has a queue of its own, and what equal ones ask of the same change
// is executed once. (Executed for each, a thousand subscribers would keep the process from taking events.)
import { createSourceEventStream, execute, type ExecutionArgs, type ExecutionResult, type GraphQLError } from 'graphql'

export interface SharedArgs extends ExecutionArgs {
  /** equal for subscribers that ask the same with the same rights */
  shareKey: string
  maskErrors(result: ExecutionResult): ExecutionResult
}

/** A change -> share key -> its result. Forgotten with the change. */
const results = new WeakMap<object, Map<string, Promise<ExecutionResult>>>()

export async function subscribeShared(
  args: SharedArgs,
): Promise<AsyncIterableIterator<ExecutionResult> | ExecutionResult> {
  const source = await createSourceEventStream(args)
  if (!(Symbol.asyncIterator in source)) return args.maskErrors(source)
  const changes = source[Symbol.asyncIterator]()
  let failed = false
  const shared: AsyncIterableIterator<ExecutionResult> = {
    async next() {
      if (failed) return { done: true, value: undefined }
      try {
        const { done, value } = await changes.next()
        return done ? { done: true, value: undefined } : { done: false, value: await resultOf(args, value) }
      } catch (error) {
        // What a read fails with would reach the client in the words of the database.
        await changes.return?.()
        failed = true
        return { done: false, value: args.maskErrors({ errors: [error as GraphQLError] }) }
      }
    },
    async return() {
      await changes.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => shared,
  }
  return shared
}

function resultOf(args: SharedArgs, change: unknown): Promise<ExecutionResult> {
  // Queues wrap what they deliver; the row inside is the same one for all of them.
  const subject = (change as { value?: object }).value
  if (typeof subject !== 'object' || subject === null) return executeFor(args, change)
  let byKey = results.get(subject)
  if (!byKey) results.set(subject, (byKey = new Map()))
  let result = byKey.get(args.shareKey)
  if (!result) byKey.set(args.shareKey, (result = executeFor(args, change)))
  return result
}

async function executeFor(args: SharedArgs, change: unknown): Promise<ExecutionResult> {
  const result = await execute({ ...args, rootValue: change })
  return result.errors ? args.maskErrors(result) : result
}
