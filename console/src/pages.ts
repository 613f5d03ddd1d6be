import type { ComponentType } from 'preact'

export interface PageEntry {
  /** The last part of the page's URL. */
  id: string
  /** In the menu and the title. */
  title: string
  /** What the page is for, below its title. */
  about: string
  /** Its group in the menu. Pages without one are reached from other pages. */
  group?: PageGroup
  load: () => Promise<{ default: ComponentType }>
}

/** The groups of the menu: the pages of one bank, and those of the server. */
export const PAGE_GROUPS = ['Memory', 'Server'] as const
export type PageGroup = typeof PAGE_GROUPS[number]

/** Every page, in the order of the menu. Each is loaded when it is first opened. */
export const PAGES: readonly PageEntry[] = [
  {
    id: 'memories',
    title: 'Memories',
    about: 'What the bank remembers. Search it, add to it, or forget parts of it.',
    group: 'Memory',
    load: async () => await import('./pages/memories/index.js'),
  },
  {
    id: 'reflect',
    title: 'Ask',
    about: 'Ask a question, and get an answer with the memories that it stands on.',
    group: 'Memory',
    load: async () => await import('./pages/reflect/index.js'),
  },
  {
    id: 'recall',
    title: 'Recall lab',
    about: 'See which memories a query finds, in which order, and why.',
    group: 'Memory',
    load: async () => await import('./pages/recall/index.js'),
  },
  {
    id: 'access',
    title: 'Access',
    about: 'Who may do what with a bank, and which rule allows it.',
    group: 'Memory',
    load: async () => await import('./pages/access/index.js'),
  },
  {
    id: 'overview',
    title: 'Overview',
    about: 'Whether the server is well, and what it runs with.',
    group: 'Server',
    load: async () => await import('./pages/overview/index.js'),
  },
  {
    id: 'sources',
    title: 'Sources',
    about: 'Services that send events here, which are stored as memories.',
    group: 'Server',
    load: async () => await import('./pages/sources/index.js'),
  },
  {
    id: 'admin',
    title: 'Admin',
    about: 'For operators: all banks of the server, and its configuration.',
    group: 'Server',
    load: async () => await import('./pages/admin/index.js'),
  },
  {
    id: 'banks',
    title: 'Banks',
    about: 'The banks that you may read, and how they grow.',
    load: async () => await import('./pages/banks/index.js'),
  },
]

/** The page at the root of the console, and the one after the return from the identity provider. */
export const HOME_PAGE = 'memories'
export const CALLBACK_PAGE = 'callback'
