import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { html } from 'ghtml';
import { isPakratError } from '../../core/errors.ts';
import { link, paths } from './links.ts';

/** A view: its title, and what makes its main part. */
export interface View {
  title: string;
  /** Path of the view in the menu that it belongs to. */
  within?: string;
  /** More for the head, HTML. */
  head?: string;
  /** Makes the main part without its heading, HTML. */
  main: () => Promise<string>;
  /** It may keep the thread busy for a while: the head is sent before it is begun. */
  isSlow?: boolean;
}

/** Nothing from elsewhere, and nothing inline: whatever a name may smuggle in does not run. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Headers of every page. */
export const pageHeaders = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** A view that is not made by then begins without its main part. */
const patienceMs = 40;

/** Answers with a view; what takes long is sent behind the head when it is there. */
export async function sendPage(reply: FastifyReply, view: View): Promise<FastifyReply> {
  reply.headers(pageHeaders).type('text/html; charset=utf-8');
  const make = (): Promise<Made> =>
    view.main().then(
      (content) => ({ content, status: 200 }),
      (error: unknown) => ({ content: showError(error), status: statusOf(error) }),
    );
  if (view.isSlow === true) return reply.send(Readable.from(inParts(view, make), { objectMode: false }));
  const main = make();
  const early = await Promise.race([main, sleep(patienceMs)]);
  if (early !== undefined) {
    reply.code(early.status);
    return reply.send(beginning(view) + early.content + end);
  }
  return reply.send(
    Readable.from(
      inParts(view, () => main),
      { objectMode: false },
    ),
  );
}

interface Made {
  content: string;
  status: number;
}

async function* inParts(view: View, make: () => Promise<Made>): AsyncGenerator<string> {
  yield beginning(view);
  // What was given is on its way only when the event loop has turned.
  await sleep(1);
  yield (await make()).content + end;
}

const menu = [
  [paths.overview, 'Overview'],
  [paths.fetching, 'Fetching now'],
  [paths.diff, 'Compare'],
  [paths.history, 'History of a file'],
  [paths.space, 'Space'],
] as const;

function beginning({ title, within, head = '' }: View): string {
  const items = menu.map(
    ([path, text]) => html`<li><a href="${path}"!${path === within ? ' aria-current="page"' : ''}>${text}</a></li>`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · pakrat</title>
<link rel="stylesheet" href="${paths.style}">
<link rel="icon" href="${paths.icon}">
<script src="${paths.script}" defer></script>
!${head}</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><a class="mark" href="${link(paths.overview)}">pakrat</a><nav aria-label="Views"><ul>!${items}</ul></nav></header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
`;
}

const end = '\n</main>\n</body>\n</html>\n';

/** The status that tells of an error. */
export function statusOf(error: unknown): number {
  if (!isPakratError(error)) return 500;
  const { code } = error;
  if (code === 'E_NOT_FOUND') return 404;
  if (code === 'E_USAGE') return 400;
  return code === 'E_OFFLINE' ? 409 : 500;
}

/** An error as a person reads it; of our own faults, and of the store's, strangers learn nothing but that there was one. */
export function showError(error: unknown): string {
  const isTold = isPakratError(error) && !error.code.startsWith('E_STORE');
  const message = isTold ? error.message : 'Something went wrong on the server.';
  const code = isPakratError(error) ? html` <code>${error.code}</code>` : '';
  return html`<section class="error" role="alert"><h2>This cannot be shown</h2><p>${message}</p><p>!${code}</p></section>`;
}
