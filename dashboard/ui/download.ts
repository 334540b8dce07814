// Owns saving a text as a file, as plain text so that no browser ever runs it.
export function download(content: string, fileName: string) {
  const address = URL.createObjectURL(new Blob([content], { type: 'text/plain;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  link.download = fileName
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
