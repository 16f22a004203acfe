import type { StudyDocument } from './document';
import { withoutPaths } from './entry';
import { pack } from './packed';
import { studyTitle } from './studyTitle';
import { pageHtml } from './pageHtml';

/**
 * The dashboard as one HTML file.
 *
 * @param assets folder with `dashboard.js` and `dashboard.css`, which the build makes
 * @throws HumanError when they are missing
 */
export async function dashboardHtml(document: StudyDocument, assets: string): Promise<string> {
  // Readers of the file must not see paths of the machine that made it.
  const shared = {
    ...document,
    runs: document.runs.map(withoutPaths),
  };
  return pageHtml(
    {
      name: 'dashboard',
      title: studyTitle(document),
      waiting: 'Reading the runs…',
      data: [pack(shared)],
      // Exporting a plot as PNG goes through an image that the page itself makes.
      images: 'blob:',
    },
    assets,
  );
}
