/** The ids of the pages in the menu, by group: the pages of one bank, and those of the server. */
export const PAGE_GROUPS = {
  Memory: ['memories', 'conversations', 'proposals', 'reflect', 'recall', 'access'],
  Server: ['overview', 'sources', 'admin'],
} as const

export type PageGroup = keyof typeof PAGE_GROUPS

/** The page at the root of the console. */
export const HOME_PAGE = 'memories'
