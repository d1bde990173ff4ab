export { measureReading, type ReadingFigures } from './measureTeacher.js';
export { splitByTitle, type ParagraphSplit } from './split.js';
export { teacherSettings, trainTeacher, type TeacherProgress, type TeacherTraining } from './trainTeacher.js';
