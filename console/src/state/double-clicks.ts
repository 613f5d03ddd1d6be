/** Buttons that send a request. */
const SUBMIT_BUTTONS = 'button[type=submit], button.primary, button.danger'

/**
 * Suppresses the second click of a double click on buttons that send a request, because nobody means to send it twice.
 */
export function ignoreDoubleClicks (): void {
  document.addEventListener('click', (event) => {
    const { target, detail } = event
    if (detail < 2 || !(target instanceof Element) || target.closest(SUBMIT_BUTTONS) === null) return
    event.preventDefault()
    event.stopPropagation()
  }, true)
}
