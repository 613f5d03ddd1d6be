import { render } from 'preact'
import { App } from './app.js'
import { ignoreDoubleClicks } from './state/double-clicks.js'
import { keepBank } from './state/current-bank.js'
import { applyTheme } from './state/theme.js'
import { startRouter } from './state/router.js'
import './styles/tokens.css'
import './styles/base.css'
import './styles/components.css'

applyTheme()
startRouter()
keepBank()
ignoreDoubleClicks()
const root = document.getElementById('console')
if (root !== null) render(<App />, root)
