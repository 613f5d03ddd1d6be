interface Pages<Page> { pages: () => AsyncGenerator<Page, void> }

/** The first page of a listing, which always has one. */
export async function firstPage<Page> (listing: Pages<Page>): Promise<Page> {
  const { value } = await listing.pages().next()
  if (value === undefined) throw new Error('The listing has no page')
  return value
}
