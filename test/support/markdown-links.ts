import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Relative links of Markdown below a folder that lead nowhere, as `file: link`. A link to a heading needs that heading. */
export function deadLinks(root: string, passOver: readonly string[] = []): string[] {
  return markdownBelow(root, passOver).flatMap((path) =>
    linksOf(readFileSync(path, 'utf8'))
      .filter((link) => !leadsSomewhere(path, link))
      .map((link) => `${relative(root, path)}: ${link}`),
  );
}

/** Markdown files below a folder; folders of the names given, and hidden ones, are passed over. */
export function markdownBelow(root: string, passOver: readonly string[] = []): string[] {
  return readdirSync(root, { withFileTypes: true }).flatMap((entry) => {
    const path = join(root, entry.name);
    if (entry.isDirectory())
      return entry.name.startsWith('.') || passOver.includes(entry.name) ? [] : markdownBelow(path, passOver);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** Targets of the links of a text that name no host; code is no link. */
function linksOf(text: string): string[] {
  const prose = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').replace(/`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)/g), ...prose.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)];
  return links.flatMap(([, link]) => (link === undefined || /^[a-z][a-z0-9+.-]*:/i.test(link) ? [] : link));
}

function leadsSomewhere(from: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? from : join(dirname(from), decodeURIComponent(path));
  if (!existsSync(target)) return false;
  if (heading === undefined) return true;
  return statSync(target).isFile() && headingsOf(readFileSync(target, 'utf8')).includes(heading);
}

/** The names under which pages of a repository know the headings of a text. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
