export interface Page<Item> {
  items: Item[];
  next: string | null;
}

/**
 * Every item of a list, page after page:
 *
 *     for await (const task of every((after) => punctual.listTasks({ query: { status: "DEAD", after } }))) …
 */
export async function* every<Item>(
  read: (after: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let after: string | undefined;
  do {
    const page = await read(after);
    yield* page.items;
    after = page.next ?? undefined;
  } while (after !== undefined);
}
