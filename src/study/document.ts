// What a report or the dashboard shows, as data: made, named, packed for a page.
export type { AskedFilter, RepairResults, StudyDocument } from './document/document';
export { pack, type PackedStudy, unpack } from './document/packed';
export { studyDocument, studyRequest } from './document/studyDocument';
export { studyOrigin } from './document/studyTitle';
