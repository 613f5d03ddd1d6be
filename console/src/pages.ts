import type { ComponentType } from 'preact'

export interface PageEntry {
  /** The last part of the page's URL. */
  id: string
  /** In the navigation and the title. */
  title: string
  /** What the page is for, below its title. */
  about: string
  load: () => Promise<{ default: ComponentType }>
}

/** Every page, in the order of the navigation. Each is loaded when it is first opened. */
export const PAGES: readonly PageEntry[] = [
  {
    id: 'overview',
    title: 'Overview',
    about: 'The configuration and the health of this server.',
    load: async () => await import('./pages/overview/index.js'),
  },
  {
    id: 'banks',
    title: 'Banks',
    about: 'The banks that you may read.',
    load: async () => await import('./pages/banks/index.js'),
  },
  {
    id: 'memories',
    title: 'Memories',
    about: 'The memories of a bank: list, search, store, forget, export and import them.',
    load: async () => await import('./pages/memories/index.js'),
  },
  {
    id: 'recall',
    title: 'Recall lab',
    about: 'What a query finds, and why.',
    load: async () => await import('./pages/recall/index.js'),
  },
  {
    id: 'reflect',
    title: 'Reflect',
    about: 'Answers from memories, with their sources.',
    load: async () => await import('./pages/reflect/index.js'),
  },
  {
    id: 'access',
    title: 'Access',
    about: 'Who may do what on which bank, and which rule allows it.',
    load: async () => await import('./pages/access/index.js'),
  },
  {
    id: 'sources',
    title: 'Sources',
    about: 'The webhook sources, whose events are stored as memories.',
    load: async () => await import('./pages/sources/index.js'),
  },
  {
    id: 'admin',
    title: 'Admin',
    about: 'For operators: the banks of all tenants, and the configuration.',
    load: async () => await import('./pages/admin/index.js'),
  },
]

/** The page at the root of the console, and after the return from the identity provider. */
export const HOME_PAGE = 'overview'
export const CALLBACK_PAGE = 'callback'
