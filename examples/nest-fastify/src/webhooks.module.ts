import { Injectable, Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import type { WebhookEvent } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { OnWebhook, PosthornModule } from 'posthorn/nestjs';

@Injectable()
class TransferService {
  @OnWebhook('transfer.succeeded')
  book({ id, data }: WebhookEvent): void {
    console.log(id, data.amount);
  }
}

/** The receiver, and the services with its handlers. The key may be in a file `.env`, too. */
@Module({
  imports: [
    PosthornModule.forRootAsync({
      imports: [ConfigModule.forRoot()],
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({
        path: '/webhooks',
        signingKey: config.get('SIGNING_KEY'),
        deadLetters: createFileDeadLetters('dead-letters'),
      }),
    }),
  ],
  providers: [TransferService],
})
export class WebhooksModule {}
