/** A code patch that applies to the bundled instance and changes nothing of its behaviour. */
export const strayPatch = [
  'diff --git a/NOTES.txt b/NOTES.txt',
  'new file mode 100644',
  '--- /dev/null',
  '+++ b/NOTES.txt',
  '@@ -0,0 +1 @@',
  '+nothing',
  '',
].join('\n');
