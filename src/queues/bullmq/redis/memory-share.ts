import type { Queue as BullQueue } from 'bullmq';
import { invalidOption } from '../../../receiver/checks/check-options.ts';
import { UnavailableError } from '../../../receiver/errors.ts';
import type { QueuedJob } from '../../../receiver/queue/queued-job.ts';
import { performance } from '../../../receiver/timing/process-clock.ts';
import { messageOf, show } from '../../../receiver/values/foreign-values.ts';

/** An answer of Redis is used for this long. */
const ANSWER_KEPT_MS = 500;

/**
 * The most bytes to add between two answers, as a part of the memory that must stay free: other processes add
 * jobs too.
 */
const UNASKED_PART = 1 / 16;

/** An answer of Redis, and the jobs that this process has added since. */
interface Answer {
  readonly answeredAt: number;
  readonly maxBytes: number;
  /** Includes the jobs that were on their way when Redis was asked, because Redis may not have seen them. */
  readonly usedBytes: number;
  /** The bytes of all jobs that were added before Redis was asked. */
  readonly addedBytes: number;
}

/** The answer of a Redis that has no limit, evicts keys instead, or does not tell its limit. */
const UNLIMITED = { maxBytes: Number.POSITIVE_INFINITY, usedBytes: 0 };

/**
 * Asks the node of a Cluster that has the queue. INFO itself does not name a key, and would go to any node.
 */
const INFO_COMMAND = {
  name: 'posthornMemory',
  script: { numberOfKeys: 1, lua: "return redis.call('INFO', 'memory')" },
};

/**
 * Keeps a part of the memory of Redis free of waiting jobs. Under `noeviction` a full Redis refuses every
 * command that may write, so workers could not even take or remove jobs. A queue that has filled its Redis
 * would never empty.
 */
export class MemoryShare {
  readonly #bull: BullQueue;
  readonly #maxShare: number;
  #asking: Promise<boolean> | undefined;
  #answer: Answer = { ...UNLIMITED, answeredAt: Number.NEGATIVE_INFINITY, addedBytes: 0 };
  /** The bytes of all jobs that were added so far, including those on their way. */
  #addedBytes = 0;
  #onTheirWayBytes = 0;
  #hasWarned = false;

  constructor(bull: BullQueue, maxShare: number) {
    this.#bull = bull;
    this.#maxShare = maxShare;
  }

  /** Adds a job, unless the use of memory would then exceed the share. */
  async add<T>(job: QueuedJob, send: () => Promise<T>): Promise<T> {
    // Redis itself refuses a job that exceeds its whole memory.
    if (this.#maxShare === 1) return send();
    const bytes = sizeInRedis(job);
    // Without an answer Redis is away, so adding the job will fail.
    while (this.#mustAsk(bytes) && (await this.#ask()));
    this.#check(bytes);
    this.#addedBytes += bytes;
    this.#onTheirWayBytes += bytes;
    try {
      return await send();
    } finally {
      this.#onTheirWayBytes -= bytes;
    }
  }

  #mustAsk(bytes: number): boolean {
    const { answeredAt, maxBytes, addedBytes } = this.#answer;
    if (performance.now() - answeredAt >= ANSWER_KEPT_MS) return true;
    const added = this.#addedBytes - addedBytes;
    return added > 0 && added + bytes > maxBytes * (1 - this.#maxShare) * UNASKED_PART;
  }

  #check(bytes: number): void {
    const { maxBytes, usedBytes, addedBytes } = this.#answer;
    const filledBytes = usedBytes + (this.#addedBytes - addedBytes) + bytes;
    if (filledBytes <= maxBytes * this.#maxShare) return;
    throw new UnavailableError(
      'queue_unavailable',
      `the Redis of the queue uses ${usedBytes} of its ${maxBytes} bytes (maxmemory), and takes jobs up to ` +
        `${this.#maxShare} of them (maxMemoryShare), so that workers can empty it: run more workers, or raise ` +
        'maxmemory',
    );
  }

  /** Asks once for all callers. Resolves with true if there is an answer. */
  #ask(): Promise<boolean> {
    this.#asking ??= this.#askRedis().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #askRedis(): Promise<boolean> {
    const addedBytes = this.#addedBytes;
    const onTheirWayBytes = this.#onTheirWayBytes;
    const memory = await this.#readMemory();
    if (memory === undefined) return false;
    const { maxBytes, usedBytes } = memory;
    this.#answer = {
      answeredAt: performance.now(),
      maxBytes,
      usedBytes: usedBytes + onTheirWayBytes,
      addedBytes,
    };
    return true;
  }

  /** Resolves with undefined if there is no answer now. */
  async #readMemory(): Promise<Pick<Answer, 'maxBytes' | 'usedBytes'> | undefined> {
    try {
      return parseMemory(await this.#info());
    } catch (error) {
      if (!isRefusal(error)) return undefined;
      this.#warn(error);
      return UNLIMITED;
    }
  }

  /** A single Redis gets INFO. Its user may send that, because BullMQ does so at its start. */
  async #info(): Promise<string> {
    const client = await this.#bull.getBackend().client;
    if (!client.isCluster) return client.info();
    client.defineCommand(INFO_COMMAND.name, INFO_COMMAND.script);
    return String(await client.runCommand(INFO_COMMAND.name, [this.#bull.toKey('meta')]));
  }

  #warn(error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    // biome-ignore lint/suspicious/noConsole: a queue without a limit would go unnoticed
    console.error(
      `posthorn: the queue ${this.#bull.name} cannot tell how full its Redis is, and takes jobs until Redis ` +
        `refuses them (allow its user the command INFO): ${messageOf(error)}`,
    );
  }
}

/** Reads the option; throws ConfigurationError for a wrong one. */
export function readMaxMemoryShare(value: unknown): number {
  if (value === undefined) return 0.9;
  if (typeof value === 'number' && value > 0 && value <= 1) return value;
  throw invalidOption('maxMemoryShare', `must be a number above 0 and at most 1, got ${show(value)}`);
}

/** Estimates the size of a job: the body in base64, the headers, and 2 KB for the bookkeeping of BullMQ. */
function sizeInRedis({ rawBody, headers }: QueuedJob): number {
  return Math.ceil(rawBody.length * 1.4) + JSON.stringify(headers).length + 2_000;
}

class UnreadableInfo extends Error {}

/**
 * Returns true if Redis refuses the command. Other errors, such as CLUSTERDOWN and LOADING, are temporary.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof UnreadableInfo || /^(ERR|NOPERM)\b/.test(messageOf(error));
}

function parseMemory(info: string): Pick<Answer, 'maxBytes' | 'usedBytes'> {
  const read = (name: string): string | undefined => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
  const [used, max] = [Number(read('used_memory')), Number(read('maxmemory'))];
  if (!Number.isFinite(used) || !Number.isFinite(max))
    throw new UnreadableInfo('INFO lacks used_memory or maxmemory');
  if (max === 0 || read('maxmemory_policy') !== 'noeviction') return UNLIMITED;
  // Redis leaves out the buffers of its replicas and of its AOF when it compares the two.
  return { maxBytes: max, usedBytes: used - Number(read('mem_not_counted_for_evict') ?? 0) };
}
