import type { ComponentType } from 'preact'

export interface PageEntry {
  /** The last part of the page's URL. */
  id: string
  /** In the menu and the title. */
  title: string
  /** What the page is for, below its title. */
  about: string
  load: () => Promise<{ default: ComponentType }>
}

/** Every page. Each is loaded when it is first opened. */
export const PAGES: readonly PageEntry[] = [
  {
    id: 'memories',
    title: 'Memories',
    about: 'What the bank remembers. Search it, add to it, or forget parts of it.',
    load: async () => await import('./pages/memories/index.js'),
  },
  {
    id: 'conversations',
    title: 'Conversations',
    about: 'What users and assistants said to each other, message by message.',
    load: async () => await import('./pages/conversations/index.js'),
  },
  {
    id: 'proposals',
    title: 'Proposals',
    about: 'Which memories may take the place of older ones. Nothing changes until you decide.',
    load: async () => await import('./pages/proposals/index.js'),
  },
  {
    id: 'reflect',
    title: 'Ask',
    about: 'Ask a question, and get an answer with the memories that it stands on.',
    load: async () => await import('./pages/reflect/index.js'),
  },
  {
    id: 'recall',
    title: 'Recall lab',
    about: 'See which memories a query finds, in which order, and why.',
    load: async () => await import('./pages/recall/index.js'),
  },
  {
    id: 'access',
    title: 'Access',
    about: 'Who may do what with a bank, and which rule allows it.',
    load: async () => await import('./pages/access/index.js'),
  },
  {
    id: 'overview',
    title: 'Overview',
    about: 'Whether the server is well, and what it runs with.',
    load: async () => await import('./pages/overview/index.js'),
  },
  {
    id: 'sources',
    title: 'Sources',
    about: 'Services that send events here, which are stored as memories.',
    load: async () => await import('./pages/sources/index.js'),
  },
  {
    id: 'admin',
    title: 'Admin',
    about: 'For operators: all banks of the server, and its configuration.',
    load: async () => await import('./pages/admin/index.js'),
  },
  {
    id: 'banks',
    title: 'Banks',
    about: 'The banks that you may read, and how they grow.',
    load: async () => await import('./pages/banks/index.js'),
  },
]

/** The page after the return from the identity provider. */
export const CALLBACK_PAGE = 'callback'
