import type { ComponentChildren } from 'preact'
import { FIRST_PAGE, PAGES } from '../pages.js'
import { announcement } from '../state/announcer.js'
import { isAway, probe } from '../state/connection.js'
import { hrefOf, place } from '../state/router.js'
import { serverConfig } from '../state/server-config.js'
import { credentials, signOut } from '../state/session.js'
import { chooseTheme, theme, type Theme } from '../state/theme.js'
import { Identity } from './identity.js'

const THEMES: ReadonlyArray<[Theme, string]> = [['auto', 'System'], ['light', 'Light'], ['dark', 'Dark']]

/** The frame around every page. */
export function Frame ({ children }: { children: ComponentChildren }) {
  const isSignedIn = credentials.value !== undefined
  return (
    <>
      <a class='skip' href='#main'>Skip to the content</a>
      <header class='top'>
        <a class='brand' href={hrefOf(FIRST_PAGE)}>Memory Gateway</a>
        <span class='version'>{serverConfig.value?.version}</span>
        <span class='spread' />
        {isSignedIn && <Identity />}
        <ThemeChoice />
        {isSignedIn && <button type='button' class='small' onClick={signOut}>Sign out</button>}
      </header>
      {isAway.value && <AwayBanner />}
      <div class='body'>
        {isSignedIn && <Navigation />}
        <main id='main' tabIndex={-1}>{children}</main>
      </div>
      <div class='for-screen-readers' aria-live='polite'>{announcement.value}</div>
    </>
  )
}

function Navigation () {
  const current = place.value.page === '' ? FIRST_PAGE : place.value.page
  return (
    <nav aria-label='Pages'>
      <ul>
        {PAGES.map(({ id, title }) => (
          <li key={id}><a href={hrefOf(id)} {...(id === current && { 'aria-current': 'page' as const })}>{title}</a></li>
        ))}
      </ul>
    </nav>
  )
}

function ThemeChoice () {
  return (
    <select
      class='small' aria-label='Theme' value={theme.value}
      onChange={({ currentTarget: { value } }) => { chooseTheme(THEMES.find(([name]) => name === value)?.[0] ?? 'auto') }}
    >
      {THEMES.map(([name, title]) => <option key={name} value={name}>{title}</option>)}
    </select>
  )
}

function AwayBanner () {
  return (
    <div class='away' role='alert'>
      <p>The server does not answer. The page tries again by itself, and goes on when it is back.</p>
      <button type='button' class='small' onClick={() => { void probe() }}>Try now</button>
    </div>
  )
}
