import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { copyPackage } from '../support/copied-package.ts';
import { exportsOfBuilds } from '../support/exports-of-builds.ts';

/** A project with what is built and with NestJS, until the test ends; returns its folder. */
function createProject(): string {
  const { project, remove } = copyPackage();
  onTestFinished(remove);
  symlinkSync(join(packageRoot, 'node_modules', '@nestjs'), join(project, 'node_modules', '@nestjs'));
  return project;
}

/** A library whose provider is decorated by calls, as compilers make them. */
const library = `
  class Payments {
    constructor(receiver) {
      this.receiver = receiver;
    }

    book({ type }) {
      console.log('handled', type, JSON.stringify(this.receiver.eventFilters()[0].types));
    }
  }
  OnWebhook('transfer.succeeded')(Payments.prototype, 'book', Object.getOwnPropertyDescriptor(Payments.prototype, 'book'));
  InjectReceiver()(Payments, undefined, 0);
  Injectable()(Payments);`;

const application = `
  class ApplicationModule {}
  const webhooks = PosthornModule.forRoot({ path: '/webhooks', signingKey: 'k' });
  Module({ imports: [webhooks], providers: [Payments] })(ApplicationModule);
  async function run() {
    const context = await NestFactory.createApplicationContext(ApplicationModule, { logger: false });
    const receiver = context.get(getReceiverToken());
    console.log((await deliver(receiver, createEvent('transfer.succeeded'), { key: 'k' })).status);
    await context.close();
  }
  run();`;

/** The imports of a file, by statements or by calls of \`require\`. */
const imports = {
  ESM: (names: string, from: string) => `import { ${names} } from '${from}';`,
  CommonJS: (names: string, from: string) => `const { ${names} } = require('${from}');`,
};

/** Files of a library of one build, and of an application of the other. */
const pairs = [
  { library: 'CommonJS', application: 'ESM', files: ['library.cjs', 'application.mjs'] },
  { library: 'ESM', application: 'CommonJS', files: ['library.mjs', 'application.cjs'] },
] as const;

test.each(pairs)(
  'the handlers of a $library library run in an $application application, which injects its receiver',
  (pair) => {
    const project = createProject();
    const [libraryFile, applicationFile] = pair.files;
    const inLibrary = imports[pair.library];
    const inApplication = imports[pair.application];
    writeFileSync(
      join(project, libraryFile),
      [
        inLibrary('Injectable', '@nestjs/common'),
        inLibrary('InjectReceiver, OnWebhook', 'posthorn/nestjs'),
        library,
        pair.library === 'ESM' ? 'export { Payments };' : 'exports.Payments = Payments;',
      ].join('\n'),
    );
    writeFileSync(
      join(project, applicationFile),
      [
        inApplication('Module', '@nestjs/common'),
        inApplication('NestFactory', '@nestjs/core'),
        inApplication('getReceiverToken, PosthornModule', 'posthorn/nestjs'),
        inApplication('createEvent, deliver', 'posthorn/testing'),
        inApplication('Payments', `./${libraryFile}`),
        application,
      ].join('\n'),
    );
    const printed = execFileSync(process.execPath, [applicationFile], { cwd: project, encoding: 'utf8' });
    expect(printed).toBe('handled transfer.succeeded ["succeeded"]\n200\n');
  },
);

test('it loads as ESM and as CommonJS', () => {
  const names = [
    'InjectReceiver',
    'OnUnhandledWebhook',
    'OnWebhook',
    'PosthornModule',
    'getReceiverToken',
    'receiverHealth',
    'webhookDecorators',
  ];
  expect(exportsOfBuilds('posthorn/nestjs')).toEqual([names, names]);
});
