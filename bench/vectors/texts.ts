import { loadConversations } from '../recall/conversation.js'

/** The project's own conversations, concatenated and cut into texts of any length, so that words are natural. */
export class Texts {
  readonly #words: string[]
  #at = 0
  #count = 0

  private constructor (words: string[]) {
    this.#words = words
  }

  static async load (files: readonly string[]): Promise<Texts> {
    const conversations = (await Promise.all(files.map(loadConversations))).flat()
    const turns = conversations.flatMap(({ sessions }) => sessions.flatMap((session) => session.turns))
    return new Texts(turns.flatMap(({ contents }) => contents).join(' ').split(/\s+/))
  }

  /** @returns a text of about that length, different from all others */
  next (characters: number): string {
    let text = `${++this.#count}`
    while (text.length < characters) {
      text += ` ${this.#words[this.#at]!}`
      this.#at = (this.#at + 1) % this.#words.length
    }
    return text
  }
}
