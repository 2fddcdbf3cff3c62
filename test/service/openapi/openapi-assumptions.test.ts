import { describe, expect, test } from 'vitest';
import { createOpenApiDocument } from '../../../src/service/openapi/document.ts';
import { rowsOf } from '../../support/table-rows.ts';

const document: unknown = JSON.parse(JSON.stringify(createOpenApiDocument()));
const leftOpen = rowsOf('docs/assumptions.md').map(([name = '']) => name);
const marks = marksOf(document, '');
const marked = new Set(marks.map(({ name }) => name));

interface Mark {
  /** A JSON pointer, whose slashes inside a key stay as they are. */
  readonly pointer: string;
  readonly name: string;
}

function marksOf(value: unknown, pointer: string): Mark[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    key === 'x-posthorn-assumptions' && Array.isArray(inner)
      ? inner.map((name) => ({ pointer, name: String(name) }))
      : marksOf(inner, `${pointer}/${key}`),
  );
}

/**
 * What posthorn, its client or its sandbox does by itself, and no request, answer, event or header of the
 * service depends on. A new row of docs/assumptions.md is marked in the document, or stands here.
 */
const ofPosthornAlone = [
  'a byte order mark before the JSON',
  'whether the service keeps connections open, sends `Expect`, pipelines or uses chunked encoding',
  'whether `Retry-After` is honoured',
  'what may be repeated',
  '`Retry-After`',
  'a service that quotes secrets',
  'an answer to a creation whose other members are missing or of another form',
  'times and links of webhooks',
  'operations that are not shown',
  '`ensure`: members that are left out',
  '`ensure`: several webhooks with the url',
  '`rotate`: what is an orphan',
  '`rotate`: the creation fails without a clear refusal, or the new webhook cannot be disabled',
  'copies on demand',
  'bodies that are changed on demand after they were signed',
  '`updated_at` while the clock stands',
  'the time while a state file lies unused',
  'how many attempts are kept',
];

describe('x-posthorn-assumptions of the OpenAPI document', () => {
  test('name rows of docs/assumptions.md, which the document links', () => {
    expect(marks.length).toBeGreaterThan(80);
    expect(marks.filter(({ name }) => !leftOpen.includes(name))).toEqual([]);
    expect(JSON.stringify(document)).toContain('[docs/assumptions.md](docs/assumptions.md)');
  });

  test('name each row but those about posthorn alone', () => {
    expect(leftOpen.filter((name) => !marked.has(name)).sort()).toEqual([...ofPosthornAlone].sort());
  });

  test('name each row that interface-coverage.md has for what is not shown', () => {
    const notShown = rowsOf('test/service/interface-coverage.md').filter(([, says = '']) =>
      says.includes('not shown'),
    );
    const references = notShown.flatMap(([, , covered = '']) => covered.split('<br>'));
    const names = references.flatMap(
      (reference) => reference.split('[assumption](../../docs/assumptions.md): ')[1] ?? [],
    );
    expect(names.length).toBeGreaterThan(40);
    expect(names.filter((name) => !marked.has(name))).toEqual([]);
  });

  const hook = '/paths//payments/na/webhooks';
  test.each([
    ['/components/schemas/FxQuote/properties/createdOn', 'the zone of `createdOn` and `lastUpdatedOn`'],
    ['/components/schemas/FxQuote/properties/lastUpdatedOn', 'the zone of `createdOn` and `lastUpdatedOn`'],
    ['/components/schemas/FxQuote/properties/status', 'a quote after its 30 seconds'],
    [
      '/components/schemas/TransferEventFilter',
      'an entity with empty `types` in `enabled_events`, in a request',
    ],
    ['/components/schemas/WebhookRequest', '`authentication` that is left out of a creation'],
    ['/components/schemas/WebhookList/properties/page/properties/count', '`page.count`'],
    ['/paths//banking/us2/v1/transaction/fxQuote/post', 'both FX amounts'],
    ['/paths//banking/ibans/v2/users/login/post', 'the shape of the login, in the document'],
    [`${hook}/post/responses/400`, 'the errors of creating a webhook, and of fetching one'],
    [`${hook}/post/responses/201`, 'the success statuses of the webhook operations'],
    [`${hook}/{webhook_id}/get/responses/404`, 'the errors of creating a webhook, and of fetching one'],
    [`${hook}/{webhook_id}/get`, 'fetching one webhook: request and response'],
    [`${hook}/get/parameters/1`, 'the parameter that sets the offset, and the end of the list of webhooks'],
  ])('%s: %s', (pointer, name) => {
    expect(marks).toContainEqual({ pointer, name });
  });

  test('are not where the interface shows everything', () => {
    const shown = [
      '/components/schemas/FxQuote/properties/fxQuoteExpiry',
      `${hook}/{webhook_id}/put/responses/400`,
      `${hook}/{webhook_id}/put/responses/404`,
    ];
    expect(marks.filter(({ pointer }) => shown.includes(pointer))).toEqual([]);
  });
});
