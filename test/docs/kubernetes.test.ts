import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { QUESTION_LIMIT_MS } from '../../src/receiver/health/health.ts';
import { packageRoot } from '../support/child-program.ts';
import { readDocument } from '../support/documents.ts';

/** The settings in the only block of YAML that a page has. */
function settingsOf(page: string): unknown {
  const blocks = readDocument(page).blocks.filter(({ language }) => language === 'yaml');
  expect(blocks).toHaveLength(1);
  return parse(blocks[0]?.code ?? '');
}

/** The milliseconds of `graceMs` in a text. */
const graceIn = (text: string): number =>
  Number(/graceMs(?: =|:) ([\d_]+)/.exec(text)?.[1]?.replaceAll('_', ''));

test('a pod outlives the grace of a receiver, the second of the journal after it, and a preStop hook', () => {
  const graceMs = graceIn(readFileSync(join(packageRoot, 'src/receiver/receiver.ts'), 'utf8'));
  expect(graceIn(readDocument('docs/production.md').text)).toBe(graceMs);
  const { terminationGracePeriodSeconds } = z
    .strictObject({ terminationGracePeriodSeconds: z.number() })
    .parse(settingsOf('docs/production.md'));
  expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThan(graceMs + 1_000 + 5_000);
});

test('the readiness probe waits for longer than the health takes', () => {
  const { readinessProbe } = z
    .strictObject({
      readinessProbe: z.object({
        httpGet: z.strictObject({ path: z.literal('/health'), port: z.literal(3000) }),
        timeoutSeconds: z.number(),
      }),
    })
    .parse(settingsOf('docs/operations.md'));
  expect(readinessProbe.timeoutSeconds * 1_000).toBeGreaterThan(QUESTION_LIMIT_MS + 500);
});
