/** The durations that were observed for one set of label values of a histogram. */
export interface Series {
  observe (seconds: number): void
}

interface HistogramOptions<Label extends string> {
  /** The whole name of the metric. */
  name: string
  help: string
  labelNames: readonly Label[]
  /** Upper bounds in seconds, in ascending order. */
  buckets: readonly number[]
}

/**
 * A histogram for values of every request: its series is created once for its labels and then counts without
 * allocating. The histogram of prom-client checks, sorts and joins the labels for every value.
 */
export class FastHistogram<Label extends string> {
  readonly #options: HistogramOptions<Label>
  readonly #series: CountedSeries[] = []

  constructor (options: HistogramOptions<Label>) {
    this.#options = options
  }

  /** Creates the series of these labels; to be called once for the same labels. */
  series (labels: Readonly<Record<Label, string>>): Series {
    const { labelNames, buckets } = this.#options
    const series = new CountedSeries(labelNames.map((name) => `${name}="${escaped(labels[name])}"`).join(','), buckets)
    this.#series.push(series)
    return series
  }

  /** In Prometheus's text format. */
  render (): string {
    const { name, help } = this.#options
    const lines = this.#series.flatMap((series) => [...series.lines(name)])
    return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines].join('\n')
  }
}

class CountedSeries implements Series {
  readonly #labels: string
  readonly #bounds: readonly number[]
  /** Values by the lowest bound that they do not exceed; the last count is of values above all bounds. */
  readonly #counts: Float64Array
  #sum = 0

  constructor (labels: string, bounds: readonly number[]) {
    this.#labels = labels
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe (seconds: number): void {
    const bounds = this.#bounds
    let index = 0
    while (index < bounds.length && seconds > bounds[index]!) index++
    this.#counts[index]!++
    this.#sum += seconds
  }

  * lines (name: string): Iterable<string> {
    const labels = this.#labels
    let count = 0
    for (const [index, bound] of this.#bounds.entries()) {
      count += this.#counts[index]!
      yield `${name}_bucket{le="${bound}",${labels}} ${count}`
    }
    count += this.#counts.at(-1)!
    yield `${name}_bucket{le="+Inf",${labels}} ${count}`
    yield `${name}_sum{${labels}} ${this.#sum}`
    yield `${name}_count{${labels}} ${count}`
  }
}

/** Escapes the value of a label. */
function escaped (value: string): string {
  return value.replace(/[\\"\n]/g, (sign) => sign === '\n' ? '\\n' : `\\${sign}`)
}
