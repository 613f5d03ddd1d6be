import { writeFile } from 'node:fs/promises'

/**
 * Prints a report as text for people and as one line of JSON.
 * @param file is also written, with the JSON only
 */
export async function printReport<R> (report: R, format: (report: R) => string, file?: string): Promise<void> {
  const json = JSON.stringify(report)
  console.log(`${format(report)}\n\n${json}`)
  if (file !== undefined) await writeFile(file, `${json}\n`)
}
