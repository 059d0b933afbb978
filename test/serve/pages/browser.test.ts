import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { link, paths } from '../../../src/serve/pages/links.ts';
import { Claims } from '../../../src/store/claims.ts';
import { storeLayout } from '../../../src/store/layout.ts';
import { chromiumPath, describeChromium } from '../../support/chromium.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { type ServedPage, servePage } from '../../support/served-page.ts';
import { someOf } from '../../support/some-of.ts';

jest.setTimeout(180_000);

/** Pictures of each view stay here after the tests. */
const pictures = join('test-output', 'pages');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describeChromium('the page in a browser', () => {
  const scratch = scratchFolder();
  let page: ServedPage;
  let browser: Browser;

  beforeAll(async () => {
    mkdirSync(pictures, { recursive: true });
    page = await servePage(scratch);
    const executablePath = spawnSync('sh', ['-c', `command -v ${chromiumPath}`], { encoding: 'utf8' }).stdout.trim();
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await page?.close();
  });

  function views(): Record<string, string> {
    const { before, after, part, pak, folder } = page;
    return {
      overview: paths.overview,
      build: link(paths.build, { in: part }),
      browse: link(paths.browse, { in: after }),
      search: link(paths.browse, { in: after, q: 'level *1.map' }),
      'hostile-names': link(paths.browse, { in: pak }),
      'hostile-folder': link(paths.browse, { in: folder }),
      text: link(paths.file, { in: after, name: 'readme.txt' }),
      picture: link(paths.file, { in: after, name: 'textures/title.png' }),
      bytes: link(paths.file, { in: after, name: 'data/table.bin' }),
      locked: link(paths.file, { in: after, name: 'sounds/wind.ogg' }),
      keys: link(paths.keys, { in: after }),
      compare: link(paths.diff, { before, after }),
      history: link(paths.history, { name: 'maps/level07.map' }),
      fetching: paths.fetching,
      space: paths.space,
    };
  }

  async function open(options: Parameters<Browser['newContext']>[0]): Promise<{ context: BrowserContext; tab: Page }> {
    const context = await browser.newContext(options);
    return { context, tab: await context.newPage() };
  }

  const looks = [
    { width: 1400, colorScheme: 'light', javaScriptEnabled: true },
    { width: 1400, colorScheme: 'dark', javaScriptEnabled: false },
    { width: 400, colorScheme: 'light', javaScriptEnabled: false },
    { width: 400, colorScheme: 'dark', javaScriptEnabled: true },
  ] as const;
  const chosen = someOf(looks, ({ colorScheme }) => colorScheme === 'dark');
  test.each(chosen)('every view fits and is whole: %j', async ({ width, colorScheme, javaScriptEnabled }) => {
    const { context, tab } = await open({ viewport: { width, height: 900 }, colorScheme, javaScriptEnabled });
    const complaints: string[] = [];
    tab.on('console', (message) => complaints.push(message.text()));
    tab.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
    for (const [name, path] of Object.entries(views())) {
      // Without script it comes anew every few seconds: that it is parsed is enough.
      await tab.goto(page.server.url + path, { waitUntil: name === 'fetching' ? 'domcontentloaded' : 'load' });
      const script = javaScriptEnabled ? 'script' : 'no-script';
      await tab.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}-${script}.png`), fullPage: true });
      expect(await tab.title()).toMatch(/ · pakrat$/);
      expect([name, await tab.locator('h1').count(), await tab.locator('main').count()]).toEqual([name, 1, 1]);
      // The bytes of a locked file are what lacks, and that is told.
      expect([name, await tab.locator('.error').count()]).toEqual([name, name === 'locked' ? 1 : 0]);
      if (javaScriptEnabled) {
        const overflow = await tab.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect([name, Math.max(0, overflow as number)]).toEqual([name, 0]);
      }
    }
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('axe finds nothing serious in any view, light or dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { context, tab } = await open({ viewport: { width: 1400, height: 900 }, colorScheme, bypassCSP: true });
      // Dark has other colours, and nothing else.
      const inDark = ['overview', 'build', 'hostile-names', 'text', 'locked', 'compare'];
      for (const [name, path] of Object.entries(views())) {
        if (colorScheme === 'dark' && !inDark.includes(name)) continue;
        await tab.goto(page.server.url + path);
        await tab.evaluate(axe);
        const { violations } = (await tab.evaluate('axe.run()')) as {
          violations: { id: string; impact: string; nodes: { html: string }[] }[];
        };
        const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
        expect(serious.map(({ id, nodes }) => `${name} ${colorScheme} ${id}: ${nodes[0]?.html}`)).toEqual([]);
      }
      await context.close();
    }
  });

  test('a person finds a file by keyboard alone, and takes it and others along', async () => {
    const { context, tab } = await open({ viewport: { width: 1400, height: 900 }, acceptDownloads: true });
    await tab.goto(page.server.url + link(paths.browse, { in: page.after }));
    await tab.keyboard.press('Tab');
    expect(await tab.evaluate('document.activeElement.className')).toBe('skip');
    await tab.keyboard.press('/');
    await tab.keyboard.type('level07');
    await tab.keyboard.press('Enter');
    await tab.getByRole('link', { name: 'maps/level07.map', exact: true }).click();
    await tab.getByRole('heading', { name: 'level07.map' }).waitFor();
    const [download] = await Promise.all([
      tab.waitForEvent('download'),
      tab.getByRole('link', { name: 'Download', exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('level07.map');
    await tab.goto(page.server.url + link(paths.browse, { in: page.pak }));
    for (const box of await tab.getByRole('checkbox').all()) await box.check();
    const [zip] = await Promise.all([tab.waitForEvent('download'), tab.getByRole('button', { name: 'zip' }).click()]);
    const names = spawnSync('python3', ['-m', 'zipfile', '-l', await zip.path()], { encoding: 'utf8' }).stdout;
    for (const name of ['maps/start.bsp', 'twice.txt', 'FILES-THAT-COULD-NOT-BE-READ.txt'])
      expect(names).toContain(name);
    await context.close();
  });

  test('what is fetched now changes before the eyes', async () => {
    const { context, tab } = await open({});
    const claims = new Claims(storeLayout(page.store).claims);
    try {
      await tab.goto(page.server.url + paths.fetching);
      await tab.getByText('Nothing is being fetched').waitFor();
      claims.take('tpr/game/data/aa/bb/cc', 0, 5 << 20);
      await tab.getByText('5.0 MiB').first().waitFor();
    } finally {
      claims.close();
    }
    await tab.getByText('Nothing is being fetched').waitFor();
    await context.close();
  });
});
