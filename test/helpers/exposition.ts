import type { TestApp } from './app.js'

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/gy

/** Reads the text format of Prometheus. @throws for a line of another format */
export function readExposition (text: string): Sample[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
    if (name === undefined) throw new Error(`No sample: ${line}`)
    const read = [...labels.matchAll(LABEL)]
    if (read.map(([all]) => all).join('') !== labels) throw new Error(`No labels: ${line}`)
    return { name, labels: Object.fromEntries(read.map(([, label, found]) => [label!, found!])), value: Number(value) }
  })
}

/** The present samples of GET /metrics. */
export async function scrape ({ get }: Pick<TestApp, 'get'>, headers: Record<string, string> = {}): Promise<Sample[]> {
  const response = await get('/metrics', headers)
  if (response.statusCode !== 200) throw new Error(`/metrics answered ${response.statusCode}: ${response.body}`)
  return readExposition(response.body)
}

/** The value of the one sample of a name that has these labels among its own; undefined when there is none. */
export function valueOf (
  samples: readonly Sample[], name: string, labels: Record<string, string> = {},
): number | undefined {
  const found = samples.filter((sample) => sample.name === name &&
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
  if (found.length > 1) throw new Error(`${found.length} samples of ${name} fit ${JSON.stringify(labels)}`)
  return found[0]?.value
}
