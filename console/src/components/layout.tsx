import type { ComponentChildren } from 'preact'
import { HOME_PAGE, PAGES } from '../pages.js'
import { announcement } from '../state/announcer.js'
import { isUnreachable, probe } from '../state/connection.js'
import { hrefOf, route } from '../state/router.js'
import { serverConfig } from '../state/server-config.js'
import { credentials, signOut } from '../state/session.js'
import { setTheme, theme, type Theme } from '../state/theme.js'
import { Identity } from './identity.js'
import { QuestionDialog } from './question-dialog.js'

const THEMES: ReadonlyArray<[Theme, string]> = [['auto', 'System'], ['light', 'Light'], ['dark', 'Dark']]

/** The header, the navigation and the content area, which every page has. */
export function Layout ({ children }: { children: ComponentChildren }) {
  const isSignedIn = credentials.value !== undefined
  return (
    <>
      <a class='skip' href='#main'>Skip to the content</a>
      <header class='top'>
        <a class='brand' href={hrefOf(HOME_PAGE)}>Memory Gateway</a>
        <span class='version'>{serverConfig.value?.version}</span>
        <span class='spread' />
        {isSignedIn && <Identity />}
        <ThemeChoice />
        {isSignedIn && <button type='button' class='small' onClick={signOut}>Sign out</button>}
      </header>
      {isUnreachable.value && <UnreachableBanner />}
      <div class='body'>
        {isSignedIn && <Navigation />}
        <main id='main' tabIndex={-1}>{children}</main>
      </div>
      <QuestionDialog />
      <div class='visually-hidden' aria-live='polite'>{announcement.value}</div>
    </>
  )
}

function Navigation () {
  const current = route.value.page === '' ? HOME_PAGE : route.value.page
  return (
    <nav aria-label='Pages'>
      <ul>
        {PAGES.map(({ id, title }) => (
          <li key={id}>
            <a href={hrefOf(id)} {...(id === current && { 'aria-current': 'page' as const })}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
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
