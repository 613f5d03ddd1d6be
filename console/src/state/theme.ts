import { signal } from '@preact/signals'

export type Theme = 'auto' | 'light' | 'dark'

const KEY = 'memory-gateway-console-theme'
const THEMES: readonly Theme[] = ['auto', 'light', 'dark']

function stored (): Theme {
  try {
    const value = localStorage.getItem(KEY)
    return THEMES.find((theme) => theme === value) ?? 'auto'
  } catch {
    // Storage may be forbidden; the system's choice holds then.
    return 'auto'
  }
}

export const theme = signal<Theme>(stored())

/** Puts the choice on the page; `auto` is the system's. */
export function applyTheme (): void {
  const { dataset } = document.documentElement
  if (theme.value === 'auto') delete dataset['theme']
  else dataset['theme'] = theme.value
}

export function chooseTheme (chosen: Theme): void {
  theme.value = chosen
  applyTheme()
  try {
    localStorage.setItem(KEY, chosen)
  } catch {
    // The choice holds for this page.
  }
}
