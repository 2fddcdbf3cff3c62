import type { DeadLetter } from 'posthorn';
import { readPortion } from './portion';
import { type Env, getReceiver, scope } from './receiver';

/**
 * Few enough for the 50 queries of an invocation on the free plan: a replay takes up to 14, besides those of
 * the handlers. The paid plan has 1,000.
 */
const PORTION = 2;
const PAUSE_MS = 3_600_000;

/** Dead letters with these reasons wait for people: a replay cannot help yet, or may do harm. */
const FOR_PEOPLE = new Set([
  'event_too_old', // may be a recording that somebody has sent again
  'handler_failed_permanently',
  'run_abandoned', // may have ended its isolate
  'body_not_json',
  'envelope_invalid',
]);

/**
 * Replays some dead letters, and goes on after them at its next call. The one of an event that always fails
 * keeps its place at the beginning, and must not hold up the others.
 */
export async function replayPortion(env: Env): Promise<void> {
  const { receiver, deadLetters } = getReceiver(env);
  const read = env.DB.prepare('select last_id from replay_position where scope = ?').bind(scope);
  const after = await read.first<string>('last_id');
  const { found, next, damage } = await readPortion(deadLetters, { after, limit: PORTION });
  if (damage !== undefined) console.error(damage);
  // Before the replays: the next call goes on even if one of them ends this isolate.
  await env.DB.prepare(
    'insert into replay_position values (?, ?) on conflict do update set last_id = excluded.last_id',
  )
    .bind(scope, next)
    .run();
  for (const deadLetter of found.filter(isDue)) {
    const { outcome, code } = await receiver.replay(deadLetter);
    console.log('replayed', deadLetter.id, outcome, code ?? '');
  }
}

/** Not more than once an hour: an event that fails now most likely fails in a minute, too. */
function isDue({ reason, parkedAt, lastTriedAt = parkedAt }: DeadLetter): boolean {
  return !FOR_PEOPLE.has(reason) && lastTriedAt < Date.now() - PAUSE_MS;
}
