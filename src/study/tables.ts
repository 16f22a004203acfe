// The tables of a report, each column written once.
export {
  type MeasuredMethod,
  type MethodRow,
  coverageColumns,
  nameColumn,
  rateColumns,
} from './tables/methodColumns';
export { type StudyTable, type TableColumn, type TextTable, asTexts } from './tables/tableColumn';
export {
  costsTable,
  findingsTable,
  groupTable,
  passTable,
  reasonsTable,
  regionsTable,
  repairsTable,
  splitTable,
  trajectoryFindingsTable,
} from './tables/tables';
