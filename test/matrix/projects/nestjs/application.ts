import { Body, Controller, Get, Injectable, Module, type OnModuleDestroy, Post } from '@nestjs/common';
// biome-ignore lint/style/useImportType: NestJS finds the service by the class, which is a value.
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import type { Receiver, WebhookEvent } from 'posthorn';
import {
  InjectReceiver,
  OnUnhandledWebhook,
  OnWebhook,
  PosthornModule,
  receiverHealth,
} from 'posthorn/nestjs';

export const key = 'key-of-nestjs';

/** Lets the program hold a delivery. */
@Injectable()
export class Gate {
  pass: () => Promise<void> = async () => {};
}

/** As applications close the connections to their database. */
@Injectable()
class Pool implements OnModuleDestroy {
  onModuleDestroy(): void {
    console.log('a pool closes');
  }
}

/** Its dependency is found by the type in its constructor. */
@Injectable()
class Payments {
  constructor(private readonly gate: Gate) {}

  @OnWebhook('transfer.*', { name: 'book' })
  async book({ type }: WebhookEvent): Promise<void> {
    await this.gate.pass();
    console.log(`handled ${type}`);
  }

  @OnUnhandledWebhook()
  note(event: WebhookEvent<string, unknown>, { known }: { known: boolean }): void {
    console.log(`unhandled ${event.type}, known ${known}`);
  }
}

@Controller()
class ApplicationController {
  constructor(
    private readonly health: HealthCheckService,
    @InjectReceiver() private readonly receiver: Receiver,
  ) {}

  @Post('echo')
  echo(@Body() body: unknown): unknown {
    return body;
  }

  @Get('health')
  @HealthCheck()
  check() {
    return this.health.check([() => receiverHealth(this.receiver, 'webhooks')]);
  }
}

@Module({ providers: [Pool] })
class LaterModule {}

@Module({ providers: [Gate, Payments], exports: [Gate] })
class PaymentsModule {}

@Module({
  imports: [
    PosthornModule.forRoot({ path: '/webhooks', signingKey: key }),
    PaymentsModule,
    TerminusModule.forRoot({ logger: false }),
    { module: class GlobalModule {}, global: true, providers: [Pool] },
    LaterModule,
  ],
  providers: [Pool],
  controllers: [ApplicationController],
})
export class ApplicationModule {}
