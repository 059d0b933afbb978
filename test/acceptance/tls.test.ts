import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { certify } from '../support/certificate.ts';
import { freePort } from '../support/loopback.ts';
import { describeNginx, startNginx } from '../support/nginx.ts';
import { makeTree } from '../support/own-cdn.ts';
import { pakratJson, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();

describeNginx('over TLS', () => {
  describe('a build', () => {
    test('comes whole from a host whose certificate is trusted, and not from one whose is not', async () => {
      const [root, store, port] = [scratch('tree'), scratch('store'), await freePort()];
      makeTree(root, port, ['--files', '80', '--total-bytes', '2M']);
      const { certificate, key } = certify(scratch('certificate'));
      const tls = `listen 127.0.0.1:${port} ssl; ssl_certificate ${certificate}; ssl_certificate_key ${key};`;
      const server = await startNginx({ folder: join(root, 'www'), rules: tls });
      try {
        const url = `https://127.0.0.1:${port}`;
        const args = ['sync', 'wow', '--store', store, '--patch-url', url, '--cdn-host', url];
        const untrusted = runPakrat(args);
        expect(untrusted.status).toBe(1);
        expect(untrusted.stderr).toMatch(/no secure connection/);

        const env = { NODE_EXTRA_CA_CERTS: certificate };
        const { value: report } = await pakratJson<SyncReport>(args, { env });
        expect(report.missing.entries).toBe(0);
        expect(report.fetched.bytes).toBeGreaterThan(500_000);
        expect(await withPakrat({ store }, (pakrat) => pakrat.verify())).toMatchObject({ bad: [] });
      } finally {
        await server.close();
      }
    });

    test('is asked for in resumed sessions where a host ends its connections', async () => {
      const [root, store, port] = [scratch('closing-tree'), scratch('closing-store'), await freePort()];
      makeTree(root, port, ['--files', '40', '--total-bytes', '300K']);
      const { certificate, key } = certify(scratch('closing-certificate'));
      let connections = 0;
      let resumed = 0;
      const pair = { cert: readFileSync(certificate), key: readFileSync(key) };
      const server = createServer(pair, ({ url = '' }, response) => {
        const file = join(root, 'www', new URL(url, 'https://host').pathname);
        response.setHeader('connection', 'close');
        if (existsSync(file)) response.end(readFileSync(file));
        else response.writeHead(404).end();
      });
      server.on('secureConnection', (socket) => {
        connections += 1;
        if (socket.isSessionReused()) resumed += 1;
      });
      await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
      try {
        const url = `https://127.0.0.1:${port}`;
        const args = ['ls', 'wow', '--store', store, '--patch-url', url, '--cdn-host', url];
        expect((await pakratJson(args, { env: { NODE_EXTRA_CA_CERTS: certificate } })).status).toBe(0);
        expect(connections).toBeGreaterThan(5);
        expect(resumed).toBeGreaterThan(0);
      } finally {
        server.close();
        server.closeAllConnections();
      }
    });
  });
});
