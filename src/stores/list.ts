/**
 * The stores whose ids several processes can share, each with all that the program, the tests and the pages
 * need to know of it. This is data only and imports nothing: the root export reads it for its advice, and the
 * bundle of a Worker must not take the clients along.
 */

export type StoreName = 'redis' | 'postgres' | 'sqlite' | 'dynamodb' | 'd1';

/** A place in which a receiver runs. */
export type Platform = 'one machine' | 'several machines' | 'AWS Lambda' | 'Cloudflare Workers';

/** A store with its dead letters. */
export interface ListedStore {
  /** Also the name of its folder, of its subpath `posthorn/<name>`, and of its option and command. */
  readonly name: StoreName;
  readonly title: string;
  /** The packages of its clients. Empty if the runtime brings the client. */
  readonly peers: readonly string[];
  /** True if the subpath imports its peer. Otherwise the client is taken by its structure. */
  readonly importsPeer?: boolean;
  /** The functions of its subpath. */
  readonly store: string;
  readonly deadLetters: string;
  readonly inbox?: string;
  readonly journal?: string;
  /** The export that makes its tables. The program has a command `posthorn <name>` for it. */
  readonly migration?: string;
  readonly platforms: readonly Platform[];
  /**
   * The option `--<name>` of `posthorn dead-letters`, and of `posthorn events` for a store with a journal.
   * Without it the program cannot reach the store.
   */
  readonly option?: PlaceOption;
}

/** The option that says where a store is. */
export interface PlaceOption {
  /** The name of its value, and the noun for it. */
  readonly value: string;
  readonly noun: string;
  /** For the address of a server: the variable that may hold it, and how an address begins. */
  readonly address?: { readonly variable: string; readonly begins: string };
  /** Another variable that it needs. */
  readonly variable?: string;
  /** True if `--schema` belongs to it. */
  readonly hasSchema?: boolean;
  /** A remark for the help. */
  readonly remark?: string;
}

/** The function that creates each store, apart because a bundle of the root export needs only this. */
export const storeFunctions: Readonly<Record<StoreName, string>> = {
  redis: 'createRedisStore',
  postgres: 'createPostgresStore',
  sqlite: 'createSqliteStore',
  dynamodb: 'createDynamoStore',
  d1: 'createD1Store',
};

/**
 * The stores that the receiver advises to share, by the platforms that it can detect, the one made for the
 * platform first. Beside a queue it advises the servers that can have one.
 */
export const advisedStores: {
  readonly [place in Exclude<Platform, 'several machines'> | 'queue']: readonly StoreName[];
} = {
  'one machine': ['sqlite', 'redis'],
  'AWS Lambda': ['dynamodb', 'redis'],
  'Cloudflare Workers': ['d1'],
  queue: ['redis', 'postgres'],
};

/** In the order in which the program lists them. */
export const stores: readonly ListedStore[] = [
  {
    name: 'redis',
    title: 'Redis',
    peers: ['ioredis', 'redis', '@upstash/redis'],
    store: storeFunctions.redis,
    deadLetters: 'createRedisDeadLetters',
    platforms: ['one machine', 'several machines', 'AWS Lambda'],
    option: {
      value: 'url',
      noun: 'address',
      address: { variable: 'REDIS_URL', begins: 'redis:// or rediss://' },
      remark: 'a single one; for Sentinel, Cluster and @upstash/redis use --receiver',
    },
  },
  {
    name: 'postgres',
    title: 'PostgreSQL',
    peers: ['pg'],
    store: storeFunctions.postgres,
    deadLetters: 'createPostgresDeadLetters',
    inbox: 'createPostgresInbox',
    journal: 'createPostgresJournal',
    migration: 'migratePostgres',
    platforms: ['one machine', 'several machines', 'AWS Lambda'],
    option: {
      value: 'url',
      noun: 'address',
      address: { variable: 'POSTGRES_URL', begins: 'postgres://' },
      hasSchema: true,
    },
  },
  {
    name: 'sqlite',
    title: 'SQLite',
    peers: ['better-sqlite3'],
    store: storeFunctions.sqlite,
    deadLetters: 'createSqliteDeadLetters',
    inbox: 'createSqliteInbox',
    journal: 'createSqliteJournal',
    migration: 'migrateSqlite',
    platforms: ['one machine'],
    option: { value: 'file', noun: 'file' },
  },
  {
    name: 'dynamodb',
    title: 'DynamoDB',
    peers: ['@aws-sdk/client-dynamodb'],
    importsPeer: true,
    store: storeFunctions.dynamodb,
    deadLetters: 'createDynamoDeadLetters',
    platforms: ['several machines', 'AWS Lambda'],
    option: {
      value: 'table',
      noun: 'table',
      variable: 'AWS_REGION',
      remark:
        'the region and the credentials come from the environment, as for every program with the SDK of AWS: ' +
        'AWS_REGION, AWS_PROFILE and others',
    },
  },
  {
    name: 'd1',
    title: 'D1',
    peers: [],
    store: storeFunctions.d1,
    deadLetters: 'createD1DeadLetters',
    migration: 'd1Migration',
    platforms: ['Cloudflare Workers'],
  },
];
