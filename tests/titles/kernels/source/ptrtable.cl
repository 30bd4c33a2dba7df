// A table of pointers, and a linked list in memory: addresses the program reads at run time.
struct node {
  global float* data;
  global struct node* next;
  uint n;
  uint kind;
};

kernel GROUP_SIZE(64, 1, 1) void ptrtable(global float* global* table, global struct node* head, global float* out, uint n) {
  uint i = group_x * 64 + local_x;
  if (i >= n) return;
  float s = table[i & 15][i];
  for (global struct node* q = head; q; q = q->next) {
    if (q->kind == (i & 3))
      s += q->data[i % q->n];
    else if (q->kind == 7)
      s -= q->data[0];
  }
  out[i] = s;
}
