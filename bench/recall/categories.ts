/** The categories of LoCoMo by number, in this order. */
export const TALK_CATEGORIES: Readonly<Record<number, string>> = {
  1: 'multi-hop', 2: 'temporal', 3: 'open-domain', 4: 'single-hop',
}
