import { describe, expect, test } from 'vitest';
import { FIRST_CHECK } from '../shapes/sandbox-bodies.ts';
import { BANKING, openSandbox, type Reply } from './opened-sandbox.ts';

const PATH = '/banking/echecks/apiServices/uploadChecks.php?GetChecksByMerchantTransID';

async function lookUp(body: string): Promise<Reply> {
  const { call } = await openSandbox();
  return call('POST', PATH, BANKING, body);
}

function checksOf({ body }: Reply): { MerchantTransID: string; CheckTransID: string }[] {
  return (body as { checkInfo: { MerchantTransID: string; CheckTransID: string }[] }).checkInfo;
}

describe('the eCheck lookup', () => {
  test('finds the check of an id, every value of it a string', async () => {
    const reply = await lookUp('{"merchantTransID":"MTX-1001","returnCustomFields":"0","inBehalf":""}');
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      errorCode: 0,
      errorMessage: '',
      bankName: 'First Sandbox Bank',
      bankAlias: 'Operating account',
      accountLast4: '6789',
      checkInfo: [FIRST_CHECK],
    });
  });

  test('finds several checks of one id, in bundles of their batch', async () => {
    const reply = await lookUp('{"merchantTransID":"MTX-1002"}');
    expect(reply.body).toMatchObject({
      errorCode: 0,
      checkInfo: [
        { BatchID: '70002', BundleID: '70002-1', MerchantTransID: 'MTX-1002' },
        { BatchID: '70002', BundleID: '70002-2', MerchantTransID: 'MTX-1002' },
      ],
    });
  });

  test('takes a list of ids; each check comes once', async () => {
    const reply = await lookUp('{"merchantTransID":["MTX-1003","MTX-1001","MTX-1003","MTX-none"]}');
    expect(
      checksOf(reply)
        .map(({ MerchantTransID }) => MerchantTransID)
        .sort(),
    ).toEqual(['MTX-1001', 'MTX-1003']);
  });

  test.each(['"MTX-none"', '["MTX-none"]'])('no match for %s is a success without checks', async (id) => {
    const reply = await lookUp(`{"merchantTransID":${id}}`);
    expect(reply).toMatchObject({ status: 200, body: { errorCode: 0, errorMessage: '', checkInfo: [] } });
  });

  test.each(['{}', '{"merchantTransID":""}', '{"merchantTransID":[]}', '{"merchantTransID":1001}', '[]'])(
    'what is at fault with %s is said in the body',
    async (body) => {
      const reply = await lookUp(body);
      expect(reply.status).toBe(200);
      expect(reply.body).toMatchObject({
        errorCode: 1,
        errorMessage: expect.stringMatching(/\w/),
        checkInfo: [],
      });
    },
  );

  test('another function of the script is unknown', async () => {
    const { call } = await openSandbox();
    const path = PATH.replace('GetChecksByMerchantTransID', 'Other');
    const reply = await call('POST', path, BANKING, '{"merchantTransID":"MTX-1001"}');
    expect(reply).toMatchObject({
      status: 200,
      body: { errorCode: 2, errorMessage: expect.stringContaining('GetChecksByMerchantTransID') },
    });
  });
});
