import { html } from 'ghtml';
import { isPakratError } from '../../../core/errors.ts';
import { formatBytes } from '../../../core/quantities.ts';
import { getEntry } from '../../../sources/names/find-entry.ts';
import type { SourceEntry } from '../../../sources/source.ts';
import { fileParameters, link, paths } from '../links.ts';
import type { Looking } from '../looking.ts';
import { showError } from '../page.ts';
import { pictureType, textOf } from '../send/media.ts';
import { readHead } from '../send/send-file.ts';
import { type LinkedFile, namedFile } from '../served/place.ts';
import type { Lease } from '../served/served-sources.ts';
import { plainName, showBytes, showFacts, showName } from '../text.ts';
import { crumbs, showHeld } from './browse-view.ts';

/** Bytes of a preview: as text, as hex, and as a picture. */
const [textBytes, hexBytes, pictureBytes] = [64 << 10, 1 << 10, 16 << 20];

/** A file: what is known of it, and its beginning. @throws E_NOT_FOUND */
export async function fileView({ sources }: Looking, id: string, linked: LinkedFile): Promise<string> {
  return sources.use(id, async (lease) => {
    const { source } = lease;
    const file = await namedFile(lease, linked);
    const entry = await getEntry(source, file);
    const named = { in: id, ...fileParameters(file, linked.place) };
    const links = [
      html`<li><a href="${link(paths.download, named)}">Download</a></li>`,
      lease.served.build === undefined
        ? ''
        : html`<li><a href="${link(paths.history, { name: file.name })}">Its history over builds</a></li>`,
    ];
    return html`!${crumbs(lease, entry.name)}<ul class="actions">!${links}</ul>
!${factsOf(lease, entry)}<section><h2>Beginning</h2>!${await preview(lease, entry, link(paths.raw, named))}</section>`;
  });
}

function factsOf({ source }: Lease, entry: SourceEntry): string {
  const facts = Object.entries(entry.facts).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null || value === '' ? [] : [[name, html`<code>${String(value)}</code>`]],
  );
  const { size, md5, mtime } = entry;
  return showFacts([
    ['Name', showName(entry.name)],
    ['Size', showBytes(size)],
    ['MD5', md5 === undefined ? undefined : html`<code class="key">${md5}</code>`],
    ['Time', mtime === undefined ? undefined : html`${mtime.toISOString().slice(0, 19).replace('T', ' ')}`],
    ['Held', source.isHeld === undefined ? undefined : showHeld(source.isHeld(entry))],
    ...facts.filter(([name]) => name !== 'mtime' && name !== 'note'),
    ['Note', entry.note === undefined ? undefined : html`${entry.note}`],
  ]);
}

async function preview({ source }: Lease, entry: SourceEntry, picture: string): Promise<string> {
  try {
    const bytes = await readHead(source, entry, textBytes);
    if (bytes.length === 0) return '<p>It is empty.</p>';
    const isCut = bytes.length < (entry.size ?? Number.POSITIVE_INFINITY);
    if (pictureType(bytes) !== undefined && (entry.size ?? 0) <= pictureBytes)
      return html`<img class="picture" src="${picture}" alt="The picture ${plainName(entry.name)}">`;
    const text = textOf(bytes, isCut);
    if (text === undefined) return html`!${textureNote(bytes)}!${hexOf(bytes)}`;
    const rest = isCut ? html`<p>The first ${formatBytes(bytes.length)} of it.</p>` : '';
    return html`<pre class="text" tabindex="0" aria-label="The text of the file">${visible(text)}</pre>!${rest}`;
  } catch (error) {
    if (!isPakratError(error)) throw error;
    return showError(error);
  }
}

/** Control characters other than the ends of lines, as pictures of themselves; marks that turn the direction of text, by their numbers. */
function visible(text: string): string {
  return text
    .replace(/(?![\t\n\r])\p{Cc}/gu, (one) => String.fromCharCode(0x2400 + (one.charCodeAt(0) & 0x1f)))
    .replace(/[\p{Cf}\p{Zl}\p{Zp}]/gu, (one) => `⟨U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase()}⟩`);
}

function textureNote(bytes: Buffer): string {
  const kind = /^(BLP[0-2]|DDS )/.exec(bytes.toString('latin1', 0, 4))?.[0].trim();
  return kind === undefined
    ? ''
    : html`<p>A ${kind} texture. Browsers do not show these; download it to look at it.</p>`;
}

function hexOf(bytes: Buffer): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, hexBytes); at += 16) {
    const part = bytes.subarray(at, Math.min(at + 16, hexBytes));
    const hex = part.toString('hex').replace(/../g, '$& ').padEnd(48);
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex} ${part.toString('latin1').replace(/[^ -~]/g, '·')}`);
  }
  const shown = Math.min(bytes.length, hexBytes);
  return html`<pre class="hex" tabindex="0" aria-label="The first bytes in hex">${lines.join('\n')}</pre><p>The first ${formatBytes(shown)} of it.</p>`;
}
