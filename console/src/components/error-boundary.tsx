import { Component, type ComponentChildren } from 'preact'
import { Failure } from './states.js'

interface State { error: unknown }

/** Shows an error of a page in its place; the rest of the console keeps working. */
export class ErrorBoundary extends Component<{ children: ComponentChildren }, State> {
  override state: State = { error: undefined }

  static override getDerivedStateFromError (error: unknown): State {
    return { error }
  }

  override render () {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return <Failure error={error} retry={() => { this.setState({ error: undefined }) }} />
  }
}
