import { MOST_LOOKED_AT } from '../../kit/journal/journal-operations.ts';
import { CLEANING_BATCH } from '../cleaning.ts';
import { START_OF } from './table.ts';

/** The statements on the journals of a schema. `$1` is the scope. */
export interface JournalStatements {
  /**
   * Merges records as `mergeRecords` does. `$2` is the batch, `$3` has the records as JSON, and `$4` all
   * their bodies, one after the other: pg sends one value of bytes as it is, and a list of them as a text.
   */
  readonly record: string;
  /** Returns rows by the key `$2`, and by the id `$3`. */
  readonly find: string;
  /** Returns rows by the keys `$2`. */
  readonly read: string;
  /** Returns them without bodies and headers. */
  readonly readWithoutBodies: string;
  /**
   * Looks at rows after the place of `$2` and `$3`, and before the time `$4`. `$5` is a type, `$6` the
   * beginning of one, and `$7` an outcome.
   */
  readonly lookAt: string;
  /** Looks at the rows of the resource `$8` alone. */
  readonly lookAtResource: string;
  /** Deletes rows that are older than `$2` milliseconds, the oldest first. */
  readonly deleteOld: string;
}

/** A row as `parseRecord` reads it, without its body. */
const row = (headers = ''): string => `key, json_strip_nulls(json_build_object(
  'id', id, 'key', event_key, 'type', type, 'provider', provider, 'account', account, 'createdAt', created_at,
  'firstReceivedAt', first_received_at, 'lastReceivedAt', last_received_at, 'deliveries', deliveries,
  'attempts', attempts, 'outcome', outcome, 'code', code, 'finality', finality, 'decidedAt', decided_at,
  'handled', handled, 'resource', resource${headers}
))::text as json`;

const ROW = `${row(", 'headers', headers")}, encode(raw_body, 'base64') as raw_body`;

/** Returns the statements; `schema` is quoted. A statement waits for a row for `limitMs` at most. */
export function journalStatements(schema: string, limitMs: number): JournalStatements {
  const table = `${schema}.journal`;
  const read = (columns: string): string =>
    `select ${columns} from ${table} where scope = $1 and key = any ($2::text[])`;
  // An ORDER BY without `entry` would mean the texts that are returned.
  const lookAt = (ofResource = ''): string => `
select first_received_at::text as first_received_at, key, (
  ($5::text is null or coalesce(type = $5, false))
  and ($6::text is null or coalesce(left(type, length($6)) = $6, false))
  and ($7::text is null or outcome = $7)
)::text as matches
from ${table} as entry
where scope = $1 and (first_received_at, key) > ($2::bigint, $3) and first_received_at < $4::bigint ${ofResource}
order by entry.first_received_at, entry.key limit ${MOST_LOOKED_AT}`;
  return {
    record: record(table, limitMs),
    find: `
select ${ROW} from ${table} where scope = $1 and key = $2
union all (
  select ${ROW} from ${table}
  where scope = $1 and key <> $2 and event_key is not null
  and left(id, ${START_OF}) = left($3, ${START_OF}) and id = $3 limit 2
)`,
    read: read(ROW),
    readWithoutBodies: read(row()),
    lookAt: lookAt(),
    lookAtResource: lookAt(`and left(resource, ${START_OF}) = left($8, ${START_OF}) and resource = $8`),
    deleteOld: `
with gone as (
  delete from ${table} where ctid = any (array(
    select ctid from ${table}
    where scope = $1 and first_received_at < greatest(extract(epoch from now()) * 1000 - $2::float8, 0)::bigint
    order by first_received_at limit ${CLEANING_BATCH} for update skip locked
  )) returning 1
)
select count(*)::text as deleted from gone`,
  };
}

/**
 * The batches that a row remembers. One comes again if its answer was lost, and meanwhile only processes that
 * got the same event have changed its row. After more than these, its deliveries would count twice.
 */
const KEPT_BATCHES = 10;

/**
 * The rows are locked in the order of their keys, so that two processes never wait for each other. A row that
 * this batch has changed already stays as it is. Without a limit, each try for a locked row would leave a
 * process of PostgreSQL behind that waits.
 */
function record(table: string, limitMs: number): string {
  const isAsFinal = '(excluded.finality, excluded.decided_at) >= (present.finality, present.decided_at)';
  const ofFinal = ['outcome', 'code', 'finality', 'decided_at'].map(
    (name) => `${name} = case when ${isAsFinal} then excluded.${name} else present.${name} end`,
  );
  const known = ['type', 'created_at', 'resource', 'headers', 'raw_body'].map(
    (name) => `${name} = coalesce(present.${name}, excluded.${name})`,
  );
  return `
insert into ${table} as present (
  scope, batches, key, id, event_key, type, provider, account, created_at, first_received_at, last_received_at,
  deliveries, attempts, outcome, code, finality, decided_at, handled, resource, headers, raw_body
)
select $1, array[$2::uuid], "storedKey", id, key, type, provider, account, "createdAt", "firstReceivedAt", "lastReceivedAt",
  deliveries, attempts, outcome, code, finality, "decidedAt", handled, resource, headers,
  case when "bodyLength" is not null then substring($4::bytea from "bodyAt" for "bodyLength") end
from json_to_recordset($3::json) as given (
  "storedKey" text, id text, key text, type text, provider text, account text, "createdAt" float8,
  "firstReceivedAt" bigint, "lastReceivedAt" bigint, deliveries integer, attempts integer, outcome text, code text,
  finality smallint, "decidedAt" bigint, handled text[], resource text, headers json, "bodyAt" integer,
  "bodyLength" integer
)
where set_config('lock_timeout', '${limitMs}', true) is not null
order by "storedKey" collate "C"
on conflict (scope, key) do update set
  batches = (excluded.batches || present.batches)[1:${KEPT_BATCHES}],
  first_received_at = least(present.first_received_at, excluded.first_received_at),
  last_received_at = greatest(present.last_received_at, excluded.last_received_at),
  deliveries = present.deliveries + excluded.deliveries,
  attempts = greatest(present.attempts, excluded.attempts),
  handled = case when excluded.handled <@ present.handled then present.handled else array(
    select name from unnest(present.handled || excluded.handled) with ordinality as names (name, position)
    group by name order by min(position)
  ) end,
  ${[...ofFinal, ...known].join(',\n  ')}
where not excluded.batches <@ present.batches`;
}
