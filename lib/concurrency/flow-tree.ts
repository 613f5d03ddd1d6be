/**
 * Whom something is for, from the widest group to the narrowest: for example a caller and one of its banks. At each
 * level, those that wait share evenly.
 */
export type Flow = readonly string[]

/** One level of a flow; its numbers include the flows below it. */
interface Node<Waiter> {
  /** The one that was served last is at the end. */
  readonly children: Map<string, Node<Waiter>>
  /** In the order of their arrival. */
  readonly waiters: Set<Waiter>
  /** Permits that the flow holds. */
  held: number
  waiting: number
}

/**
 * The waiters for permits and the numbers of permits held, by flow. A flow that neither waits nor holds is forgotten,
 * so the tree is only as large as the numbers of waiters and permits.
 */
export class FlowTree<Waiter> {
  readonly #root: Node<Waiter> = makeNode()

  /** The number of waiters. */
  get waiting (): number {
    return this.#root.waiting
  }

  /** Adds to the number of permits that the flow holds: 1 or -1. */
  hold (flow: Flow, amount: number): void {
    this.#along(flow, (node) => { node.held += amount })
  }

  add (flow: Flow, waiter: Waiter): void {
    this.#along(flow, (node) => { node.waiting++ }).waiters.add(waiter)
  }

  /** Does nothing if it no longer waits. */
  delete (flow: Flow, waiter: Waiter): void {
    if (this.#find(flow)?.waiters.delete(waiter) === true) this.#along(flow, (node) => { node.waiting-- })
  }

  has (flow: Flow, waiter: Waiter): boolean {
    return this.#find(flow)?.waiters.has(waiter) === true
  }

  /**
   * The waiter whose turn it is: at each level one of the flow that holds fewest permits, of equal ones of the one that
   * was served longest ago.
   */
  next (): Waiter | undefined {
    let node = this.#root
    while (node.waiters.size === 0) {
      let next: Node<Waiter> | undefined
      for (const child of node.children.values()) {
        if (child.waiting > 0 && (next === undefined || child.held < next.held)) next = child
      }
      if (next === undefined) return undefined
      node = next
    }
    const [first] = node.waiters
    return first
  }

  /** Puts the flow behind those that hold as many permits. */
  noteServed (flow: Flow): void {
    let { children } = this.#root
    for (const name of flow) {
      const child = children.get(name)
      if (child === undefined) return
      children.delete(name)
      children.set(name, child)
      children = child.children
    }
  }

  /**
   * The waiter to refuse for a new one of this flow: the last one of a flow that has more waiters, also with the new
   * one counted. Undefined when there is none.
   */
  replaceableBy (flow: Flow): Waiter | undefined {
    let node: Node<Waiter> | undefined = this.#root
    for (const name of flow) {
      const own: Node<Waiter> | undefined = node.children.get(name)
      const longest = longestChild(node)
      if (longest !== undefined && longest.waiting > (own?.waiting ?? 0) + 1) return lastWaiter(longest)
      if (own === undefined) return undefined
      node = own
    }
    return undefined
  }

  /** All waiters. */
  * [Symbol.iterator] (): Generator<Waiter, void> {
    yield * waitersBelow(this.#root)
  }

  #find (flow: Flow): Node<Waiter> | undefined {
    let node: Node<Waiter> | undefined = this.#root
    for (const name of flow) node = node?.children.get(name)
    return node
  }

  /** Changes each node from the root to that of the flow. @returns the last one */
  #along (flow: Flow, change: (node: Node<Waiter>) => void): Node<Waiter> {
    let node = this.#root
    change(node)
    for (const name of flow) {
      const { children } = node
      node = children.get(name) ?? makeNode()
      change(node)
      // What is below a node that nothing waits for or holds is forgotten with it.
      if (node.held === 0 && node.waiting === 0) children.delete(name)
      else if (!children.has(name)) children.set(name, node)
    }
    return node
  }
}

function makeNode<Waiter> (): Node<Waiter> {
  return { children: new Map(), waiters: new Set(), held: 0, waiting: 0 }
}

function longestChild<Waiter> ({ children }: Node<Waiter>): Node<Waiter> | undefined {
  let longest: Node<Waiter> | undefined
  for (const child of children.values()) if (child.waiting > (longest?.waiting ?? 0)) longest = child
  return longest
}

/** The last waiter of the longest flow. */
function lastWaiter<Waiter> (node: Node<Waiter>): Waiter | undefined {
  const longest = longestChild(node)
  return longest === undefined ? [...node.waiters].at(-1) : lastWaiter(longest)
}

function * waitersBelow<Waiter> ({ waiters, children }: Node<Waiter>): Generator<Waiter, void> {
  yield * waiters
  for (const child of children.values()) yield * waitersBelow(child)
}
