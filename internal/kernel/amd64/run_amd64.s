#include "textflag.h"

// The kernels by number: see kernel's isa_amd64.go.
DATA kernels<>+0(SB)/8, $·panel1_avx512_f32(SB)
DATA kernels<>+8(SB)/8, $·panel2_avx512_f32(SB)
DATA kernels<>+16(SB)/8, $·panel3_avx512_f32(SB)
DATA kernels<>+24(SB)/8, $·panel4_avx512_f32(SB)
DATA kernels<>+32(SB)/8, $·panel1_avx512_f32_narrow(SB)
DATA kernels<>+40(SB)/8, $·dots_avx512_f32(SB)
DATA kernels<>+48(SB)/8, $·transpose_avx512_f32(SB)
DATA kernels<>+56(SB)/8, $·transpose_avx512_f32_narrow(SB)
DATA kernels<>+64(SB)/8, $·dotPairs_avx512_f32(SB)
DATA kernels<>+72(SB)/8, $·panel1_avx512_f64(SB)
DATA kernels<>+80(SB)/8, $·panel2_avx512_f64(SB)
DATA kernels<>+88(SB)/8, $·panel3_avx512_f64(SB)
DATA kernels<>+96(SB)/8, $·panel4_avx512_f64(SB)
DATA kernels<>+104(SB)/8, $·panel1_avx512_f64_narrow(SB)
DATA kernels<>+112(SB)/8, $·dots_avx512_f64(SB)
DATA kernels<>+120(SB)/8, $·transpose_avx512_f64(SB)
DATA kernels<>+128(SB)/8, $·transpose_avx512_f64_narrow(SB)
DATA kernels<>+136(SB)/8, $·dotPairs_avx512_f64(SB)
DATA kernels<>+144(SB)/8, $·panel1_avx2_f32(SB)
DATA kernels<>+152(SB)/8, $·panel2_avx2_f32(SB)
DATA kernels<>+160(SB)/8, $·panel1_avx2_f32_masked(SB)
DATA kernels<>+168(SB)/8, $·dots_avx2_f32(SB)
DATA kernels<>+176(SB)/8, $·transpose_avx2_f32(SB)
DATA kernels<>+184(SB)/8, $·panel1_avx2_f64(SB)
DATA kernels<>+192(SB)/8, $·panel2_avx2_f64(SB)
DATA kernels<>+200(SB)/8, $·panel1_avx2_f64_masked(SB)
DATA kernels<>+208(SB)/8, $·dots_avx2_f64(SB)
DATA kernels<>+216(SB)/8, $·transpose_avx2_f64(SB)
DATA kernels<>+224(SB)/8, $·pairForward_avx512(SB)
DATA kernels<>+232(SB)/8, $·pairBack_avx512(SB)
DATA kernels<>+240(SB)/8, $·outer7x1_avx512_f32(SB)
DATA kernels<>+248(SB)/8, $·outer7x2_avx512_f32(SB)
DATA kernels<>+256(SB)/8, $·outer7x3_avx512_f32(SB)
DATA kernels<>+264(SB)/8, $·outer8x1_avx512_f32(SB)
DATA kernels<>+272(SB)/8, $·outer8x2_avx512_f32(SB)
DATA kernels<>+280(SB)/8, $·outer8x3_avx512_f32(SB)
DATA kernels<>+288(SB)/8, $·outer9x1_avx512_f32(SB)
DATA kernels<>+296(SB)/8, $·outer9x2_avx512_f32(SB)
DATA kernels<>+304(SB)/8, $·outer9x3_avx512_f32(SB)
DATA kernels<>+312(SB)/8, $·outer7x1_avx512_f64(SB)
DATA kernels<>+320(SB)/8, $·outer7x2_avx512_f64(SB)
DATA kernels<>+328(SB)/8, $·outer7x3_avx512_f64(SB)
DATA kernels<>+336(SB)/8, $·outer8x1_avx512_f64(SB)
DATA kernels<>+344(SB)/8, $·outer8x2_avx512_f64(SB)
DATA kernels<>+352(SB)/8, $·outer8x3_avx512_f64(SB)
DATA kernels<>+360(SB)/8, $·outer9x1_avx512_f64(SB)
DATA kernels<>+368(SB)/8, $·outer9x2_avx512_f64(SB)
DATA kernels<>+376(SB)/8, $·outer9x3_avx512_f64(SB)
DATA kernels<>+384(SB)/8, $·outer3x3_avx2_f32(SB)
DATA kernels<>+392(SB)/8, $·outer4x3_avx2_f32(SB)
DATA kernels<>+400(SB)/8, $·outer3x3_avx2_f64(SB)
DATA kernels<>+408(SB)/8, $·outer4x3_avx2_f64(SB)
GLOBL kernels<>(SB), RODATA, $416

#define INSTRUCTION_SIZE 224
#define FLUSH_TO_ZERO 0x8040 // FTZ | DAZ of MXCSR

// func Run(instructions unsafe.Pointer, n int, frame unsafe.Pointer)
TEXT ·Run(SB), NOSPLIT, $32-24
	MOVQ    instructions+0(FP), AX
	MOVQ    frame+16(FP), BX
	STMXCSR mxcsr-4(SP)
	MOVL    mxcsr-4(SP), CX
	ORL     $FLUSH_TO_ZERO, CX
	MOVL    CX, flush-8(SP)
	LDMXCSR flush-8(SP)

next:
	MOVQ AX, 0(SP)
	MOVQ BX, 8(SP)
	MOVQ 0(AX), CX
	LEAQ kernels<>(SB), DX
	MOVQ (DX)(CX*8), CX
	CALL CX
	MOVQ 0(SP), AX
	MOVQ 8(SP), BX
	ADDQ $INSTRUCTION_SIZE, AX
	DECQ n+8(FP)
	JNZ  next

	LDMXCSR mxcsr-4(SP)
	VZEROUPPER
	RET
