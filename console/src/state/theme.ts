import { signal } from '@preact/signals'

export type Theme = 'auto' | 'light' | 'dark'

const KEY = 'memory-gateway-console-theme'
const THEMES: readonly Theme[] = ['auto', 'light', 'dark']

function readStoredTheme (): Theme {
  try {
    const value = localStorage.getItem(KEY)
    return THEMES.find((theme) => theme === value) ?? 'auto'
  } catch {
    // Storage may be forbidden; then the system's choice applies.
    return 'auto'
  }
}

export const theme = signal<Theme>(readStoredTheme())

/** Applies the choice to the page; `auto` follows the system. */
export function applyTheme (): void {
  const { dataset } = document.documentElement
  if (theme.value === 'auto') delete dataset['theme']
  else dataset['theme'] = theme.value
}

export function setTheme (chosen: Theme): void {
  theme.value = chosen
  applyTheme()
  try {
    localStorage.setItem(KEY, chosen)
  } catch {
    // The choice applies to this page only.
  }
}
