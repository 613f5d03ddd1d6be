import type { ComponentChildren } from 'preact'
import { HOME_PAGE, PAGE_GROUPS, type PageGroup } from '../page-groups.js'
import { PAGES } from '../pages.js'
import { announcement } from '../state/announcer.js'
import { isUnreachable, probe } from '../state/connection.js'
import { currentBank } from '../state/current-bank.js'
import { hrefOf, route } from '../state/router.js'
import { serverConfig } from '../state/server-config.js'
import { credentials, signOut } from '../state/session.js'
import { setTheme, theme, type Theme } from '../state/theme.js'
import { BankButton, BankDialog } from './bank-choice.js'
import { Identity } from './identity.js'
import { QuestionDialog } from './question-dialog.js'

const THEMES: ReadonlyArray<[Theme, string]> = [['auto', 'System'], ['light', 'Light'], ['dark', 'Dark']]

/** The header, the menu and the content area, which every page has. */
export function Layout ({ children }: { children: ComponentChildren }) {
  const isSignedIn = credentials.value !== undefined
  return (
    <>
      <a class='skip' href='#main'>Skip to the content</a>
      <header class='top'>
        <a class='brand' href={hrefOf(HOME_PAGE, { bank: currentBank.value })}>Memory Gateway</a>
        <span class='version'>{serverConfig.value?.version}</span>
        <span class='spread' />
        {isSignedIn && <Identity />}
        <ThemeChoice />
        {isSignedIn && <button type='button' class='small' onClick={signOut}>Sign out</button>}
      </header>
      {isUnreachable.value && <UnreachableBanner />}
      <div class='body'>
        {isSignedIn && <Menu />}
        <main id='main' tabIndex={-1}>{children}</main>
      </div>
      {isSignedIn && <BankDialog />}
      <QuestionDialog />
      <div class='visually-hidden' aria-live='polite'>{announcement.value}</div>
    </>
  )
}

function Menu () {
  return (
    <nav class='menu' aria-label='Pages'>
      {(['Memory', 'Server'] as const).map((group) => (
        <div key={group} class='menu-group'>
          <p class='menu-title' id={`menu-${group}`}>{group}</p>
          {group === 'Memory' && <BankButton />}
          <MenuLinks group={group} />
        </div>
      ))}
    </nav>
  )
}

function MenuLinks ({ group }: { group: PageGroup }) {
  const current = route.value.page === '' ? HOME_PAGE : route.value.page
  const params = group === 'Memory' ? { bank: currentBank.value } : {}
  return (
    <ul aria-labelledby={`menu-${group}`}>
      {PAGES.filter((page) => PAGE_GROUPS[group].some((id) => id === page.id)).map(({ id, title }) => (
        <li key={id}>
          <a href={hrefOf(id, params)} {...(id === current && { 'aria-current': 'page' as const })}>{title}</a>
        </li>
      ))}
    </ul>
  )
}

function ThemeChoice () {
  return (
    <select
      class='small' aria-label='Theme' value={theme.value}
      onChange={({ currentTarget: { value } }) => { setTheme(THEMES.find(([name]) => name === value)?.[0] ?? 'auto') }}
    >
      {THEMES.map(([name, title]) => <option key={name} value={name}>{title}</option>)}
    </select>
  )
}

function UnreachableBanner () {
  return (
    <div class='unreachable-banner' role='alert'>
      <p>The server does not answer. The page retries and continues when the server is available again.</p>
      <button type='button' class='small' onClick={() => { void probe() }}>Try now</button>
    </div>
  )
}
