import { computed, effect, signal } from '@preact/signals'
import { HOME_PAGE, PAGE_GROUPS } from '../page-groups.js'
import { isBankId } from '../text/bank-id.js'
import { changeParams, hrefOf, route } from './router.js'

/** The bank that was chosen last, for the pages whose URL names none. */
const lastBank = signal('')

/** Whether the dialog in which a bank is chosen is open. */
export const isChoosingBank = signal(false)

/** The bank that the pages of the group Memory show; empty: none is chosen. */
export const currentBank = computed(() => {
  const { page, params } = route.value
  const bank = showsBank(page) || page === 'banks' ? params.get('bank') : null
  return bank ?? lastBank.value
})

/** Whether a page is one of those that show the current bank. */
function showsBank (page: string): boolean {
  return page === '' || PAGE_GROUPS.Memory.some((id) => id === page)
}

/** Keeps the current bank from page to page, and in the URL of each page that shows it. */
export function keepBank (): void {
  effect(() => {
    const { page, params } = route.value
    if (!showsBank(page) && page !== 'banks') return
    const bank = params.get('bank') ?? ''
    if (isBankId(bank)) lastBank.value = bank
    else if (bank === '' && page !== 'banks' && lastBank.value !== '') changeParams({ bank: lastBank.value })
  })
}

/** Chooses a bank for the user, who may read this one alone. */
export function chooseOnlyBank (bank: string): void {
  if (lastBank.value === '') lastBank.value = bank
}

/** The URL that chooses a bank: the same page with it if the page shows a bank, and its memories otherwise. */
export function hrefOfBank (bank: string): string {
  const { page, params } = route.value
  const isKept = showsBank(page) || (page === 'banks' && params.has('bank'))
  return hrefOf(isKept ? page : HOME_PAGE, { bank })
}
