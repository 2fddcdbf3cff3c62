import type { Answer, AnswerBody, Ask, OperatorResult } from './mounts.ts';

/** Goes through the pages of a list by `after`. */
export async function* pages(
  ask: Ask,
  path: string,
  query: Readonly<Record<string, string>> = {},
): AsyncGenerator<AnswerBody> {
  let next: Readonly<Record<string, string>> | undefined = query;
  while (next !== undefined) {
    const body = bodyOf(await ask(`${path}?${new URLSearchParams(next)}`));
    yield body;
    next = body.after === undefined ? undefined : { ...query, after: body.after };
  }
}

/** Goes on with a deed by `next`. */
export async function* portions(ask: Ask, path: string, first: object): AsyncGenerator<AnswerBody> {
  let next: object | undefined = first;
  while (next !== undefined) {
    const body = bodyOf(await ask(path, { body: next }));
    yield body;
    next = body.next;
  }
}

/** All results of a deed that goes on to its end. */
export async function resultsOf(
  ask: Ask,
  path: string,
  first: object = { selection: {} },
): Promise<readonly OperatorResult[]> {
  const all: OperatorResult[] = [];
  for await (const { results = [] } of portions(ask, path, first)) all.push(...results);
  return all;
}

function bodyOf({ body, status, text }: Answer): AnswerBody {
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body;
}
