import type { JournalRecord } from '../../../receiver/journal/journal.ts';
import { MOST_LOOKED_AT, type Place } from '../../kit/journal/journal-operations.ts';
import type { CheckedSelection } from '../../kit/journal/selection.ts';
import type { SqlStatement } from '../statement.ts';
import { NOW } from '../tables.ts';

/** A row as `parseRecord` reads it. `json_patch` leaves out what is null (RFC 7396). */
const jsonOfRow = (headers = ''): string => `json_patch('{}', json_object(
  'id', id, 'key', event_key, 'type', type, 'provider', provider, 'account', account, 'createdAt', created_at,
  'firstReceivedAt', first_received_at, 'lastReceivedAt', last_received_at, 'deliveries', deliveries,
  'attempts', attempts, 'outcome', outcome, 'code', code, 'finality', finality, 'decidedAt', decided_at,
  'handled', json(handled), 'resource', resource${headers}
))`;

const JSON_OF_ROW = jsonOfRow(", 'headers', json(headers)");

/** Returns the row of a key, as JSON, without its body. */
export function readRecord(scope: string, key: string): SqlStatement {
  return { sql: READ_RECORD, values: [scope, key] };
}

const READ_RECORD = `select ${JSON_OF_ROW} as json from posthorn_journal where scope = ? and key = ?`;

/** Writes a row, in place of one with its key. A body that is there stays. */
export function writeRecord(scope: string, key: string, record: JournalRecord): SqlStatement {
  const { id, key: eventKey = null, type = null, provider, account = null, createdAt = null } = record;
  const { firstReceivedAt, lastReceivedAt, deliveries, attempts, outcome, code = null, finality } = record;
  const { decidedAt, handled, resource = null, headers, rawBody } = record;
  const identity = [scope, key, eventKey, id, type, provider, account, createdAt];
  const counts = [firstReceivedAt, lastReceivedAt, deliveries, attempts, outcome, code, finality, decidedAt];
  const fields = headers === undefined ? null : JSON.stringify(headers);
  const body = rawBody === undefined ? null : Buffer.from(rawBody).toString('base64');
  return { sql: WRITE, values: [...identity, ...counts, JSON.stringify(handled), resource, fields, body] };
}

const CHANGING =
  'type created_at first_received_at last_received_at deliveries attempts outcome code finality decided_at ' +
  'handled resource headers';

const WRITE = `insert into posthorn_journal (
  scope, key, event_key, id, type, provider, account, created_at, first_received_at, last_received_at,
  deliveries, attempts, outcome, code, finality, decided_at, handled, resource, headers, raw_body
) values (${Array.from({ length: 20 }, () => '?').join(', ')})
on conflict (scope, key) do update set ${CHANGING.split(' ')
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')},
  raw_body = coalesce(posthorn_journal.raw_body, excluded.raw_body)`;

const ENTRY = `key, ${JSON_OF_ROW} as json, raw_body`;

/** Returns the row of a key, and up to two with that id of other senders. */
export function findEntries(scope: string, key: string, id: string): SqlStatement {
  return { sql: FIND, values: [scope, key, scope, id] };
}

const FIND = `select ${ENTRY} from posthorn_journal where scope = ? and key = ?
union all
select * from (
  select ${ENTRY} from posthorn_journal where scope = ? and id = ? and event_key is not null limit 2
)`;

/** Returns the rows of keys. */
export function readEntries(scope: string, keys: readonly string[], bodies: boolean): SqlStatement {
  return { sql: bodies ? READ : READ_WITHOUT_BODIES, values: [scope, JSON.stringify(keys)] };
}

const read = (columns: string): string =>
  `select ${columns} from posthorn_journal where scope = ? and key in (select value from json_each(?))`;

const READ = read(ENTRY);
const READ_WITHOUT_BODIES = read(`key, ${jsonOfRow()} as json`);

/** Looks at rows of a selection after a place. */
export function lookAtEntries(
  scope: string,
  selection: CheckedSelection,
  { firstReceivedAt, key }: Place,
): SqlStatement {
  const { resource, type, until } = selection;
  const start = type?.endsWith('.*') ? type.slice(0, -1) : null;
  const exact = start === null ? (type ?? null) : null;
  const outcome = selection.outcome ?? null;
  const matches = [exact, exact, start, start, start, outcome, outcome];
  const place = [scope, firstReceivedAt, key, until];
  return resource === undefined
    ? { sql: LOOK_AT, values: [...matches, ...place] }
    : { sql: LOOK_AT_RESOURCE, values: [...matches, ...place, resource] };
}

const lookAt = (ofResource = ''): string => `select first_received_at, key, (
  (? is null or type is ?) and (? is null or coalesce(substr(type, 1, length(?)) = ?, false))
  and (? is null or outcome = ?)
) as matches
from posthorn_journal
where scope = ? and (first_received_at, key) > (?, ?) and first_received_at < ? ${ofResource}
order by first_received_at, key limit ${MOST_LOOKED_AT}`;

const LOOK_AT = lookAt();
const LOOK_AT_RESOURCE = lookAt('and resource = ?');

/** Deletes rows that are older than that, the oldest first. */
export function deleteOldEntries(scope: string, olderThanMs: number, most: number): SqlStatement {
  return { sql: DELETE_OLD, values: [scope, olderThanMs, most] };
}

const DELETE_OLD = `delete from posthorn_journal where rowid in (
  select rowid from posthorn_journal where scope = ? and first_received_at < ${NOW} - ?
  order by first_received_at limit ?
)`;
