import { statSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { createFileDeadLetters } from '../../stores/file/dead-letters.ts';
import { createPostgresDeadLetters } from '../../stores/postgres/dead-letters/dead-letters.ts';
import { createRedisDeadLetters } from '../../stores/redis/dead-letters/dead-letters.ts';
import { createSqliteDeadLetters } from '../../stores/sqlite/dead-letters/dead-letters.ts';
import { withDynamoTable } from '../dynamodb.ts';
import { usageError } from '../failure.ts';
import { schemaOption } from '../postgres/command.ts';
import { requirePostgresUrl, withPool } from '../postgres/pg.ts';
import { requireRedisUrl, withRedis } from '../redis.ts';
import { withSqliteFile } from '../sqlite/file.ts';
import { awaitConnections } from './await-connections.ts';
import { loadReceiver, type ReceiverModule } from './receiver-module.ts';

/** The place of the letters: a directory, a server, a file of SQLite, or the receiver's own dead letters. */
export interface SourceOptions {
  readonly dir?: string;
  readonly redis?: string;
  readonly postgres?: string;
  readonly sqlite?: string;
  readonly dynamodb?: string;
  readonly schema?: string;
  readonly scope?: string;
  readonly receiver?: string;
  readonly json?: boolean;
}

/** Letters, and the receiver that they belong to, if it is known. */
export interface Source {
  readonly deadLetters: DeadLetters;
  readonly receiver?: ReceiverModule['receiver'];
  /** The dead letters of the receiver, which may differ from `deadLetters`. */
  readonly receiverLetters?: ReceiverModule['deadLetters'];
}

/** Adds the options that say where the letters are. */
export function addStorageOptions(command: Command): Command {
  return command
    .option('--dir <directory>', 'letters in files: the directory of createFileDeadLetters')
    .option('--scope <scope>', 'letters in Redis, PostgreSQL, SQLite or DynamoDB: their scope')
    .option('--redis <url>', 'the address of Redis, together with --scope (env: REDIS_URL)')
    .option('--postgres <url>', 'the address of PostgreSQL, together with --scope (env: POSTGRES_URL)')
    .addOption(schemaOption())
    .option('--sqlite <file>', 'the file of SQLite, together with --scope')
    .option('--dynamodb <table>', 'the table of DynamoDB, together with --scope (env: AWS_REGION)');
}

/** The option that names the receiver's module. */
export function receiverOption(): Option {
  return new Option(
    '--receiver <module>',
    'a module that exports the receiver, with its store, handlers and dead letters',
  );
}

/** Opens the letters for as long as `use` takes. */
export async function withSource(
  options: SourceOptions,
  use: (source: Source) => Promise<void>,
): Promise<void> {
  const { dir, scope, redis, postgres, sqlite, dynamodb, receiver, json = false } = options;
  const named = [redis, postgres, sqlite, dynamodb].filter((place) => place !== undefined);
  if (named.length > 1) {
    throw usageError(
      'give one of --redis, --postgres, --sqlite and --dynamodb: the letters are in one place',
    );
  }
  if (dir !== undefined && scope !== undefined) {
    throw usageError('give one of --dir and --scope: the letters are in one place');
  }
  if (scope === undefined && named.length > 0) {
    throw usageError('the scope of the letters is missing: give --scope');
  }
  const useWith = async (deadLetters?: DeadLetters): Promise<void> => {
    if (receiver !== undefined) await withReceiver(receiver, json, deadLetters, use);
    else if (deadLetters !== undefined) await use({ deadLetters });
    else
      throw usageError(
        'say where the letters are: --dir, --scope with REDIS_URL, POSTGRES_URL, --sqlite or --dynamodb, or --receiver',
      );
  };
  if (dir !== undefined) await useWith(openDirectory(dir));
  else if (scope !== undefined && sqlite !== undefined) await withFile(sqlite, scope, useWith);
  else if (scope !== undefined && dynamodb !== undefined) await withDynamoTable(dynamodb, scope, useWith);
  else if (scope !== undefined) await withServer(options, scope, useWith);
  else await useWith();
}

/** A missing directory is a mistake here, and must not be created. */
function openDirectory(dir: string): DeadLetters {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return createFileDeadLetters(dir);
  throw usageError(`--dir must be an existing directory, and ${JSON.stringify(dir)} is not one`);
}

async function withReceiver(
  path: string,
  json: boolean,
  elsewhere: DeadLetters | undefined,
  use: (source: Source) => Promise<void>,
): Promise<void> {
  const { receiver, deadLetters: receiverLetters } = await awaitConnections(await loadReceiver(path, json));
  const deadLetters = elsewhere ?? receiverLetters;
  if (deadLetters === undefined) {
    throw usageError('the receiver has no dead letters: say where they are with --dir or --scope');
  }
  await use({ receiver, deadLetters, receiverLetters });
  // Completions that are still pending are written within the grace period of close().
  await receiver.close();
}

/** Letters in a file of SQLite. */
async function withFile(
  file: string,
  scope: string,
  use: (deadLetters: DeadLetters) => Promise<void>,
): Promise<void> {
  await withSqliteFile(file, { mayCreate: false }, (database) =>
    use(createSqliteDeadLetters(database, { scope })),
  );
}

/** Letters in the server whose address is given, or is in the environment. */
async function withServer(
  { redis, postgres, schema }: SourceOptions,
  scope: string,
  use: (deadLetters: DeadLetters) => Promise<void>,
): Promise<void> {
  const { REDIS_URL, POSTGRES_URL } = process.env;
  const given = redis ?? postgres;
  const [redisUrl, postgresUrl] = given === undefined ? [REDIS_URL, POSTGRES_URL] : [redis, postgres];
  if (redisUrl !== undefined && postgresUrl !== undefined) {
    throw usageError(
      'both Redis and PostgreSQL are named, but the letters are in one place: give --redis or --postgres',
    );
  }
  if (postgresUrl === undefined) {
    return withRedis(requireAddress(redisUrl), (client) => createRedisDeadLetters(client, { scope }), use);
  }
  const url = requirePostgresUrl(postgresUrl, 'POSTGRES_URL or --postgres');
  await withPool(url, (pool) => use(createPostgresDeadLetters(pool, { scope, ...(schema && { schema }) })));
}

function requireAddress(redisUrl: string | undefined): string {
  return requireRedisUrl(
    redisUrl,
    'the address of the letters is missing or wrong: REDIS_URL or --redis must begin with redis:// or rediss://, ' +
      'POSTGRES_URL or --postgres with postgres://',
  );
}
