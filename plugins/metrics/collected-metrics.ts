import { Counter, Gauge, type Registry } from 'prom-client'

/** The prefix of every metric but those of the process. */
export const PREFIX = 'memory_gateway_'

export interface Sample<Label extends string> {
  labels?: Readonly<Record<Label, string>>
  value: number
}

interface CollectedMetric<Label extends string> {
  /** The name without its prefix. */
  name: string
  help: string
  labelNames?: readonly Label[]
  /** Returns all samples of one scrape. */
  read: () => Iterable<Sample<Label>>
}

/**
 * The registry of metrics whose values are read at each scrape. The part of the gateway that owns a value registers it
 * here, so that the metrics plugin needs to know none of them.
 */
export class CollectedMetrics {
  readonly #registers: Registry[]

  constructor (registry: Registry) {
    this.#registers = [registry]
  }

  gauge<Label extends string = never> ({ name, help, labelNames = [], read }: CollectedMetric<Label>): void {
    const gauge: Gauge<Label> = new Gauge({
      name: `${PREFIX}${name}`,
      help,
      labelNames,
      registers: this.#registers,
      collect: () => {
        gauge.reset()
        for (const { labels, value } of samplesOf(read)) {
          if (labels === undefined) gauge.set(value)
          else gauge.set(labels, value)
        }
      },
    })
  }

  /** A counter that its owner keeps: `read` returns its totals. */
  counter<Label extends string> ({ name, help, labelNames = [], read }: CollectedMetric<Label>): void {
    const counter: Counter<Label> = new Counter({
      name: `${PREFIX}${name}`,
      help,
      labelNames,
      registers: this.#registers,
      collect: () => {
        counter.reset()
        for (const { labels, value } of samplesOf(read)) counter.inc(labels ?? {}, value)
      },
    })
  }
}

/** A value that cannot be read is left out, so that the rest of the scrape succeeds. */
function samplesOf<Label extends string> (read: () => Iterable<Sample<Label>>): ReadonlyArray<Sample<Label>> {
  try {
    return [...read()]
  } catch {
    return []
  }
}
