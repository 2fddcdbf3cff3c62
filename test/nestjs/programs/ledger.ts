// An application that books events in PostgreSQL, by a repository. It prints what happens.

import 'reflect-metadata';
import { Inject, Injectable, Module, type OnModuleDestroy } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import pg from 'pg';
import type { WebhookEvent } from 'posthorn';
import { OnWebhook, PosthornModule } from 'posthorn/nestjs';

const { POSTGRES_URL, KEY, SERVER } = process.env;

function note(...words: readonly unknown[]): void {
  process.stdout.write(`${words.join(' ')}\n`);
}

@Injectable()
class Database implements OnModuleDestroy {
  readonly pool: pg.Pool = new pg.Pool({ connectionString: POSTGRES_URL });

  async onModuleDestroy(): Promise<void> {
    note('the pool closes');
    await this.pool.end();
    note('the pool has closed');
  }
}

@Injectable()
class LedgerRepository {
  readonly #pool: pg.Pool;

  constructor(@Inject(Database) { pool }: Database) {
    this.#pool = pool;
  }

  async book(id: string): Promise<void> {
    await this.#pool.query('insert into ledger (event_id) values ($1)', [id]);
    // A pool that has begun to close finishes the first query, and refuses the second.
    await this.#pool.query('select from ledger where event_id = $1', [id]);
  }
}

@Injectable()
class Payments {
  readonly #ledger: LedgerRepository;

  constructor(@Inject(LedgerRepository) ledger: LedgerRepository) {
    this.#ledger = ledger;
  }

  @OnWebhook('transfer.succeeded', { name: 'book' })
  async book({ id }: WebhookEvent): Promise<void> {
    note('begun', id);
    await this.#ledger.book(id);
    note('booked', id);
  }
}

const webhooks = PosthornModule.forRoot({ path: '/webhooks', signingKey: KEY, deadlineMs: 29_000 });

/** The pool is as near to the root as can be. */
@Module({ imports: [webhooks], providers: [Database, LedgerRepository, Payments] })
class ApplicationModule {}

async function start(): Promise<void> {
  const adapter = SERVER === 'Fastify' ? new FastifyAdapter() : new ExpressAdapter();
  const app = await NestFactory.create(ApplicationModule, adapter, { logger: ['error'] });
  app.enableShutdownHooks();
  await app.listen(0, '127.0.0.1');
  note('listening', await app.getUrl());
}

void start();
