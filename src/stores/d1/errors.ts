import { messageOf } from '../../receiver/values/foreign-values.ts';
import type { FailureRules } from '../kit/failure-rules.ts';

/**
 * The messages of failures that pass: https://developers.cloudflare.com/d1/observability/debug-d1/. The
 * statement may have been run all the same.
 */
const PASSING = /network connection lost|\breset\b|transient|overloaded|internal error/i;

function isTemporary(error: unknown): boolean {
  return PASSING.test(messageOf(error));
}

/** Advice about errors that do not pass, by their messages. */
const explanations: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /no such table: posthorn_/,
    'the tables of posthorn are missing in this database: write the output of "npx posthorn d1 sql" to a file ' +
      'in its migrations folder, and run "npx wrangler d1 migrations apply"',
  ],
  [
    /table posthorn_\w+ has no column/,
    'the tables of posthorn in this database are older than this isolate has seen: apply the migrations of ' +
      '"npx posthorn d1 sql" that they lack',
  ],
  [/exceeded maximum DB size/i, 'the database is full: delete what is not needed, or take another one'],
  [/maximum account storage/i, 'the account has no storage left: delete what is not needed'],
];

function explain(error: unknown): Error {
  const reason = messageOf(error);
  const advice = explanations.find(([pattern]) => pattern.test(reason))?.[1];
  return new Error(advice === undefined ? reason : `${advice} (D1: ${reason})`, { cause: error });
}

/** The failures of D1: which of them pass, and what to do about the others. */
export const d1FailureRules: FailureRules = { server: 'D1', isTemporary, explain };
