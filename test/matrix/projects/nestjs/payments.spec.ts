import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { Receiver, WebhookEvent } from 'posthorn';
import { getReceiverToken, OnWebhook, PosthornModule } from 'posthorn/nestjs';
import { createEvent, deliver } from 'posthorn/testing';

const key = 'key-of-jest';

@Injectable()
class Ledger {
  book(_id: string): void {
    throw new Error('a test reached the database');
  }
}

@Injectable()
class Payments {
  constructor(private readonly ledger: Ledger) {}

  @OnWebhook('transfer.succeeded', { name: 'book' })
  book({ id }: WebhookEvent): void {
    this.ledger.book(id);
  }
}

test('books a transfer', async () => {
  const ledger = { book: jest.fn() };
  const module = await Test.createTestingModule({
    imports: [PosthornModule.forRoot({ path: '/webhooks', signingKey: key })],
    providers: [Ledger, Payments],
  })
    .overrideProvider(Ledger)
    .useValue(ledger)
    .compile();
  await module.init();
  const event = createEvent('transfer.succeeded');
  const answer = await deliver(module.get<Receiver>(getReceiverToken()), event, { key });
  expect(answer.status).toBe(200);
  expect(ledger.book.mock.calls).toEqual([[event.id]]);
  await module.close();
});
