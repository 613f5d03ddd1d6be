// Splits a text into the pieces that the Universal Sentence Encoder knows: SentencePiece's unigram model (Kudo 2018),
// as in the JavaScript implementation of the encoder's authors, in time proportional to the text.

/** Control symbols at the head of the vocabulary, which occur in no text. */
const RESERVED = 6
const UNKNOWN = 0
const SPACE = '\u2581'

/**
 * @typedef {{ next: Map<string, Node>, id: number, score: number }} Node `id` is -1 where no piece ends
 */

/** @param {Array<[piece: string, score: number]>} vocabulary @returns {(text: string) => number[]} */
export function makeTokenizer (vocabulary) {
  const root = newNode()
  for (const [id, [piece, score]] of vocabulary.entries()) {
    if (id < RESERVED) continue
    let node = root
    for (const symbol of piece) {
      let next = node.next.get(symbol)
      if (next === undefined) node.next.set(symbol, next = newNode())
      node = next
    }
    node.id = id
    node.score = score
  }
  return (text) => tokenize(root, text)
}

/** @returns {Node} */
function newNode () {
  return { next: new Map(), id: -1, score: 0 }
}

/**
 * The pieces whose scores have the largest sum (Viterbi). Symbols without a piece are unknown; several in a row become
 * one unknown piece.
 * @param {Node} root
 * @param {string} text
 */
function tokenize (root, text) {
  const symbols = [...SPACE + text.normalize('NFKC').replaceAll(' ', SPACE)]
  const best = new Float64Array(symbols.length + 1)
  const ids = new Int32Array(symbols.length + 1)
  const starts = new Int32Array(symbols.length + 1)
  const reach = (start, end, id, score) => {
    const sum = best[start] + score
    // 0: not reached yet, or only through unknown symbols, to which any known piece is preferred.
    if (best[end] !== 0 && sum < best[end]) return
    best[end] = sum
    ids[end] = id
    starts[end] = start
  }
  for (let start = 0; start < symbols.length; start++) {
    let isKnown = false
    let node = root.next.get(symbols[start])
    for (let end = start + 1; node !== undefined; end++) {
      if (node.id >= 0) {
        isKnown = true
        reach(start, end, node.id, node.score)
      }
      node = end < symbols.length ? node.next.get(symbols[end]) : undefined
    }
    if (!isKnown) reach(start, start + 1, UNKNOWN, 0)
  }
  const pieces = []
  for (let end = symbols.length; end > 0; end = starts[end]) {
    if (ids[end] !== UNKNOWN || pieces.at(-1) !== UNKNOWN) pieces.push(ids[end])
  }
  return pieces.reverse()
}
