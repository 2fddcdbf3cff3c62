interface Answer {
  /** The body of the next request; undefined if all is done. */
  readonly next?: object;
  readonly results: readonly { readonly id: string; readonly outcome: string; readonly message?: string }[];
  readonly stopped?: { readonly message: string };
}

/**
 * Replays the dead letters of a selection by the interface of operators, in portions. `url` is that of the
 * mount, and the selection `{}` takes all.
 */
export async function replay(url: string, headers: Record<string, string>, selection: object): Promise<void> {
  let body: object | undefined = { selection };
  while (body !== undefined) {
    const answer = await fetch(`${url}/api/dead-letters/replay`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    const { next, results, stopped }: Answer = JSON.parse(text);
    for (const { id, outcome, message } of results) console.log(id, outcome, message ?? '');
    if (stopped) throw new Error(stopped.message);
    body = next;
  }
}
