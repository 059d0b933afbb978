import type { ListfileIndex } from '../../listfile/listfile-index.ts';

/** The listed names of ids that are asked for in ascending order: both lists are gone through once. Undefined for an id without a name. */
export function listedNames(listfile: ListfileIndex | undefined): (fileDataId: number) => string | undefined {
  const names = listfile?.names();
  let listed = names?.next().value;
  return (fileDataId) => {
    while (listed && listed.fileDataId < fileDataId) listed = names?.next().value;
    return listed && listed.fileDataId === fileDataId ? listed.name : undefined;
  };
}
